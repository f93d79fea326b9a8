import type { CallOptions, Transport } from './transport.ts';

/** Fields common to all services. */
export interface ServiceState {
  enabled: boolean;
  /** Why the service is disabled, in one sentence; null while enabled. */
  reason: string | null;
}

/** State of the clusters service. */
export interface ClustersState extends ServiceState {
  /** Number of clusters in the workspace; `connected` counts those with a live agent. */
  total: number;
  connected: number;
  /** Clusters whose agent has never connected. */
  pending: number;
}

/** State of the object store. */
export interface ObjectStoreState extends ServiceState {
  /** False until the first bucket is created. */
  provisioned: boolean;
  buckets: number;
  objects: number;
  /** Size of all current objects, in bytes. */
  bytes: number;
  /** Base URL of the S3 data plane; null while the service is disabled. */
  s3_endpoint: string | null;
}

/** An image with prestarted sandboxes. */
export interface WarmImage {
  image: string;
  /** Number of prestarted sandboxes now; `target` is the desired number. */
  ready: number;
  target: number;
  /** Creates since the platform started that used a prestarted sandbox; `misses` counts those that found none. */
  hits: number;
  misses: number;
}

/** State of the sandboxes service. */
export interface SandboxesState extends ServiceState {
  /** Number of running sandboxes, excluding paused ones. */
  running: number;
  paused: number;
  total: number;
  /** Maximum number of sandboxes in the workspace. */
  limit: number;
  /** The driver that runs sandboxes, such as `local` or `docker`; null while the service is disabled. */
  driver: string | null;
  /** The container runtime, such as `runc` or `runsc`; null if the driver does not report it. */
  runtime: string | null;
  /** Isolations a sandbox may request here: `namespaces`, `gvisor`. */
  isolations: string[];
  /** The default isolation; null while the service is disabled. */
  isolation: string | null;
  /**
   * Why the default isolation shares the kernel or is unavailable; null with gVisor and while the service is disabled.
   */
  isolation_reason: string | null;
  /** Whether programs in sandboxes with the default isolation call the host's kernel. */
  shares_kernel: boolean | null;
  /** What the driver lacks, such as `pause`, `snapshots` or `egress_allow`; empty while the service is disabled. */
  missing_capabilities: string[];
  /** Prestarted sandboxes on the responding replica, per image in `sandboxes.warm_pool`. */
  warm_pool: WarmImage[];
}

/** Response of `GET /api/v1/platform/status`: the current state of a workspace's services. */
export interface PlatformStatus {
  version: string;
  uptime_seconds: number;
  services: {
    clusters: ClustersState;
    object_store: ObjectStoreState;
    sandboxes: SandboxesState;
  };
}

/** The workspace of a call; the caller's default one if absent. */
export interface WorkspaceScope {
  workspaceUuid?: string | undefined;
  /** Required for members of the workspace's team; omit it as the owner. */
  teamUuid?: string | undefined;
}

/**
 * The state of the platform.
 *
 * @example
 * ```ts
 * const { services } = await svc.platform.status();
 * ```
 */
export class PlatformClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Returns the current state of a workspace's services. */
  status(scope: WorkspaceScope = {}, options: CallOptions = {}): Promise<PlatformStatus> {
    return this.#transport.call({
      method: 'GET',
      path: '/api/v1/platform/status',
      query: { workspace_uuid: scope.workspaceUuid, team_uuid: scope.teamUuid },
      ...options,
    });
  }
}
