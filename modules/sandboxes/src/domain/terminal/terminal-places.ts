import type { Breach, Limits } from '@svc/quotas';

/** Port to the open terminals of all replicas. */
export interface TerminalPlaces {
  /** Checks the count and inserts in one transaction. Returns the exceeded quota, or null. */
  take(id: string, limits: Limits): Promise<Breach | null>;
  release(id: string): Promise<void>;
  /** Clears the entries of a node that no process serves. */
  clear(node: string): Promise<void>;
}
