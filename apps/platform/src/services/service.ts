import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ClustersModule } from '@svc/clusters';
import type { HttpApp, ListenerOptions, ReadinessCheck, UpgradeRouter } from '@svc/http';
import type { Usage } from '@svc/quotas';
import type { ServiceName } from '../service-names.ts';
import type { ServiceStates } from '../http/status-routes.ts';

/** The platform's interface to one of its services. */
export interface Service<State> {
  readonly name: ServiceName;
  registerRoutes(app: HttpApp): Promise<void>;
  registerUpgrades(router: UpgradeRouter): void;
  /** Starts background work; the signal stops it, and `close` waits for it. */
  start(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
  readonly readiness: ReadinessCheck;
  /** The service's state in a workspace, for the overview. */
  state(workspaceUuid: string): Promise<State>;
  /** Describes what the service still holds in a workspace; an empty workspace may be deleted. */
  holdings(workspaceUuid: string): Promise<string[]>;
  /** Total usage in these workspaces by quota name. */
  quotaUsage(workspaceUuids: readonly string[]): Promise<Usage>;
}

/** Sandboxes also serve their own hosts. */
export interface SandboxesService extends Service<ServiceStates['sandboxes']> {
  /** Handles requests for previews; returns true if it did. */
  handlePreview(this: void, request: IncomingMessage, response: ServerResponse): boolean;
}

export interface ClustersService extends Service<ServiceStates['clusters']> {
  /** Sees every request before any other handler; null if the service is off. */
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

export interface ObjectStoreService extends Service<ServiceStates['object_store']> {
  /** For the listener of the S3 data plane; null if the service is off. */
  readonly s3: Pick<ListenerOptions, 'handler' | 'configure' | 'onSlowBody'> | null;
  /** Handles requests for the hosts of public objects; returns true if it did. */
  handlePublicHost(this: void, request: IncomingMessage, response: ServerResponse): boolean;
  /** For the listeners of custom domains; null if the service is off. */
  readonly sites: Record<'http' | 'https', Pick<ListenerOptions, 'handler' | 'configure' | 'tls'>> | null;
}
