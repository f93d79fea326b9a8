import type { CallOptions, Transport } from './transport.ts';

/** Fields that every service reports. */
export interface ServiceState {
  enabled: boolean;
  /** Why it is off, in one sentence; null while it is on. */
  reason: string | null;
}

export interface ClustersState extends ServiceState {
  /** Clusters of the workspace, and how many of them have a live agent. */
  total: number;
  connected: number;
  /** Clusters whose agent has never connected. */
  pending: number;
}

export interface ObjectStoreState extends ServiceState {
  /** False until the first bucket is made. */
  provisioned: boolean;
  buckets: number;
  objects: number;
  /** Size of all current objects. */
  bytes: number;
  /** Base URL of the S3 data plane; null while the service is off. */
  s3_endpoint: string | null;
}

export interface WarmImage {
  image: string;
  /** How many wait now, and how many should. */
  ready: number;
  target: number;
  /** Creates since the start that got one, and those that none waited for. */
  hits: number;
  misses: number;
}

export interface SandboxesState extends ServiceState {
  /** Without paused ones. */
  running: number;
  paused: number;
  total: number;
  /** The most sandboxes that the workspace may have. */
  limit: number;
  /** Where they run, such as `local` or `docker`; null while the service is off. */
  driver: string | null;
  /** What isolates them, such as `runc` or `runsc`; null when the driver does not say. */
  runtime: string | null;
  /** What a sandbox may ask for here: `namespaces`, `gvisor`. */
  isolations: string[];
  /** Of a sandbox that asks for nothing; null while the service is off. */
  isolation: string | null;
  /** Why such a sandbox shares the kernel, or cannot be made; null behind gVisor and while the service is off. */
  isolation_reason: string | null;
  /** Whether programs of such a sandbox call the kernel of the machine that it runs on. */
  shares_kernel: boolean | null;
  /** Sandboxes that wait ready on the replica that answers, of each image of `sandboxes.warm_pool`. */
  warm_pool: WarmImage[];
}

/** Answer of `GET /api/v1/platform/status`: the state of one workspace's services, as it is now. */
export interface PlatformStatus {
  version: string;
  uptime_seconds: number;
  services: {
    clusters: ClustersState;
    object_store: ObjectStoreState;
    sandboxes: SandboxesState;
  };
}

/** Names the workspace of a call; absent means the caller's default one. */
export interface WorkspaceScope {
  workspaceUuid?: string | undefined;
  /** Needed by members of the team that the workspace belongs to; its owner leaves it out. */
  teamUuid?: string | undefined;
}

export class PlatformClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  status(scope: WorkspaceScope = {}, options: CallOptions = {}): Promise<PlatformStatus> {
    return this.#transport.call({
      method: 'GET',
      path: '/api/v1/platform/status',
      query: { workspace_uuid: scope.workspaceUuid, team_uuid: scope.teamUuid },
      ...options,
    });
  }
}
