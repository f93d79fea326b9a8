import type { Breach, Limits } from '@svc/quotas';

/** Port to the open terminals of all replicas. */
export interface TerminalPlaces {
  /** One transaction with the count; answers the quota that leaves no room, or null. */
  take(id: string, limits: Limits): Promise<Breach | null>;
  release(id: string): Promise<void>;
  /** After a start: forgets what this replica held when it ended. */
  clear(): Promise<void>;
}
