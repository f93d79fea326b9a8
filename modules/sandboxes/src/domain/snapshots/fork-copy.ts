/** A volume or bucket that the fork of a sandbox makes, by the name that it gets. */
export interface ForkCopy {
  readonly id: string;
  /** The same for all copies of one request. */
  readonly forkId: string;
  readonly node: string;
  readonly workspaceUuid: string;
  readonly kind: 'volume' | 'bucket';
  readonly name: string;
  readonly sourceName: string;
  readonly createdAt: string;
}

/** Stores copies of forks under way. */
export interface ForkCopyRepository {
  insert(copy: ForkCopy): Promise<void>;
  ofFork(forkId: string): Promise<readonly ForkCopy[]>;
  ofNode(node: string): Promise<readonly ForkCopy[]>;
  remove(ids: readonly string[]): Promise<void>;
}

/** Called before a copy is made. */
export type NoteCopy = (copy: Pick<ForkCopy, 'kind' | 'name' | 'sourceName'>) => Promise<void>;
