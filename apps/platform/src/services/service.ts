import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ClustersModule } from '@svc/clusters';
import type { HttpApp, ReadinessCheck, UpgradeRouter } from '@svc/http';
import type { Usage } from '@svc/quotas';
import type { ServiceName } from '../service-names.ts';
import type { ObjectStoreService } from './object-store.ts';
import type { ServiceStates } from '../http/status-routes.ts';

/** How the platform holds one of its services, whatever module is behind it. */
export interface Service<State> {
  readonly name: ServiceName;
  registerRoutes(app: HttpApp): Promise<void>;
  registerUpgrades(router: UpgradeRouter): void;
  /** Begins background work; the signal asks it to end, `close` waits for it. */
  start(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
  readonly readiness: ReadinessCheck;
  /** What a workspace sees of it in the overview. */
  state(workspaceUuid: string): Promise<State>;
  /** What of it still stands in a workspace, in words; an empty workspace may be deleted. */
  holdings(workspaceUuid: string): Promise<string[]>;
  /** What it counts in these workspaces together, by name of the quota. */
  quotaUsage(workspaceUuids: readonly string[]): Promise<Usage>;
}

/** Sandboxes answer for hosts of their own as well. */
export interface SandboxesService extends Service<ServiceStates['sandboxes']> {
  /** Answers requests for previews, and says whether it did. */
  handlePreview(this: void, request: IncomingMessage, response: ServerResponse): boolean;
}

export interface ClustersService extends Service<ServiceStates['clusters']> {
  /** Looks at every request before anybody else; null when the service is off. */
  readonly tunnels: ClustersModule['tunnels'] | null;
}

export interface Services {
  clusters: ClustersService;
  objectStore: ObjectStoreService;
  sandboxes: SandboxesService;
}

/** `2 buckets`, `1 bucket`, or nothing. */
export function countOf(count: number, one: string, many: string): string[] {
  return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
}
