/** Room of the machine that runs a node's sandboxes, whoever uses it. */
export interface MachineRoom {
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly freeMemoryBytes: number;
  /** Free space on the disk of the data folder. */
  readonly freeDiskBytes: number;
}

/** What a node states about itself. */
export interface NodeReport {
  readonly driver: string;
  /** Maximum number of sandboxes that run there at once. */
  readonly maxRunning: number;
  /** Null if its sandboxes run on other machines. */
  readonly room: MachineRoom | null;
}

/** The sandboxes of a node, by number and by what the running ones may use. */
export interface NodeLoad {
  /** Running ones, paused ones included. */
  readonly running: number;
  /** Not deleted, in any state. */
  readonly total: number;
  /** What a drain still has to stop or to copy. */
  readonly toDrain: number;
  readonly cpuMillis: number;
  readonly memoryMb: number;
  readonly unarchived: Unarchived;
}

/** Snapshots and images of templates whose only copy is on their node. None where nothing is archived for other nodes. */
export interface Unarchived {
  /** Still to be archived. */
  readonly pending: number;
  /** The last attempt failed; the node tries again. */
  readonly failed: number;
}

/** A node for sandboxes, as its last report and its records describe it. */
export interface SandboxNode extends NodeReport, NodeLoad {
  /** The id of its replica. */
  readonly node: string;
  /** ISO 8601, UTC, by the database's clock. */
  readonly reportedAt: string;
  /** Null unless an operator drains it. ISO 8601, UTC, by the database's clock. */
  readonly drainRequestedAt: string | null;
}

/** A drain that an operator requested and did not end. */
export interface DrainRequest {
  /** Time since the request, by the database's clock. */
  readonly elapsedMs: number;
}

/** Nodes that take sandboxes, whether they are live or not. */
export interface OpenNodes {
  /** Nodes with this driver that are not drained, by id. */
  open(driver: string): Promise<readonly string[]>;
  /** Those of them that run fewer sandboxes than they may; the one with the most room comes first. */
  withRoom(driver: string): Promise<readonly string[]>;
}

/** Stores what nodes state about themselves, and which of them are drained. All times are the database's. */
export interface NodeRepository extends OpenNodes {
  /** Replaces the node's last report. */
  report(node: string, report: NodeReport): Promise<void>;
  findDrain(node: string): Promise<DrainRequest | null>;
  /**
   * Begins or ends a drain, and tells the node. Does nothing if it has begun or ended. False if the node has never
   * reported.
   */
  setDraining(node: string, isDraining: boolean): Promise<boolean>;
  /** Every node that has reported, by id. */
  list(): Promise<readonly SandboxNode[]>;
}
