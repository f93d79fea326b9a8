import type { CallOptions, Transport } from './transport.ts';

const PATH = '/api/v1/admin/nodes';

/** The process of a node. */
export interface NodeReplica {
  version: string;
  /** Hostname of its machine; null if its version does not state it. */
  host: string | null;
  /** Where other replicas reach it; null if they cannot. */
  url: string | null;
  started_at: string;
  seen_at: string;
  /** Whether its lease is valid. */
  live: boolean;
  /** Time until its lease ends, unless it is renewed. */
  lease_left_ms: number;
}

/** Resources of the machine that runs a node's sandboxes. */
export interface NodeRoom {
  cpus: number;
  memory_bytes: number;
  free_memory_bytes: number;
  free_disk_bytes: number;
}

/** The sandboxes of a node. */
export interface NodeSandboxes {
  driver: string;
  /** Running sandboxes, paused ones included. */
  running: number;
  /** Sandboxes in any state. */
  total: number;
  max_running: number;
  /** What the running sandboxes may use. */
  used_cpus: number;
  used_memory_mb: number;
  /** Null if its sandboxes run on other machines. */
  room: NodeRoom | null;
  reported_at: string;
}

/** The drain of a node. */
export interface NodeDrain {
  state: 'draining' | 'drained';
  requested_at: string;
  /** Sandboxes that are still to be stopped, or to be copied into a snapshot. */
  remaining: number;
  /** Snapshots and templates that are still to be archived for other nodes. */
  archiving: number;
  /** Snapshots and templates that could not be archived so far; only this node has their files. */
  unarchived: number;
}

/** A replica of the platform, and the sandboxes that it holds. */
export interface PlatformNode {
  id: string;
  /** Whether it served this request. */
  this_node: boolean;
  /** Null if it has been silent for thirty days. */
  replica: NodeReplica | null;
  /** Null if it has never run sandboxes. */
  sandboxes: NodeSandboxes | null;
  /** Null unless it is drained. */
  drain: NodeDrain | null;
}

/** Background work that one node at a time does. */
export interface NodeWork {
  /** Such as `lifecycle` or `notifications`. */
  name: string;
  /** ID of the node that does it. */
  node: string;
  lease_left_ms: number;
}

/** Response of `GET /api/v1/admin/nodes`. */
export interface NodeOverview {
  nodes: PlatformNode[];
  work: NodeWork[];
  /** Certifies replicas among themselves, renewed a year before it ends; null if they do not reach one another. */
  internal_authority: { expires_at: string } | null;
}

/** Replicas and nodes; operators only. */
export class NodesClient {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists all nodes, by id, and the background work that they do. */
  list(options: CallOptions = {}): Promise<NodeOverview> {
    return this.#transport.call({ method: 'GET', path: PATH, ...options });
  }

  /**
   * Drains a node: it starts no sandboxes, and stops those it has after a notice. Returns at once; `list` shows the
   * progress. Throws `NODE_NOT_FOUND`.
   */
  drain(node: string, options: CallOptions = {}): Promise<PlatformNode> {
    return this.#change(node, 'drain', options);
  }

  /** Ends a drain. Sandboxes that were stopped stay so. Throws `NODE_NOT_FOUND`. */
  undrain(node: string, options: CallOptions = {}): Promise<PlatformNode> {
    return this.#change(node, 'undrain', options);
  }

  #change(node: string, verb: 'drain' | 'undrain', options: CallOptions): Promise<PlatformNode> {
    return this.#transport.call({ method: 'POST', path: `${PATH}/${encodeURIComponent(node)}/${verb}`, ...options });
  }
}
