import type { Replica } from '@svc/replicas';
import type { SandboxNode } from '@svc/sandboxes';

/** A node of the installation: a replica, the sandboxes that it holds, or both. */
export interface PlatformNode {
  readonly id: string;
  /** Null if the replica has been silent for so long that it was forgotten; its sandboxes are still known. */
  readonly replica: Replica | null;
  /** Null if it has never run sandboxes. */
  readonly sandboxes: SandboxNode | null;
}

/** Joins replicas and nodes for sandboxes by id. Leaves out nodes whose replica was forgotten and that hold nothing. */
export function joinNodes(replicas: readonly Replica[], sandboxNodes: readonly SandboxNode[]): PlatformNode[] {
  const byId = new Map<string, PlatformNode>(
    replicas.map((replica) => [replica.id, { id: replica.id, replica, sandboxes: null }]),
  );
  for (const sandboxes of sandboxNodes) {
    const { node: id, total } = sandboxes;
    const { replica = null } = byId.get(id) ?? {};
    if (replica !== null || total > 0) byId.set(id, { id, replica, sandboxes });
  }
  return [...byId.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1));
}
