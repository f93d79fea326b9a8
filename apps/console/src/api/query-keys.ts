import type { Workspace } from '@svc/sdk';

// Prefixes of query keys, for invalidating dependent queries without loading their modules.

/** Everything about a workspace's object store. */
export function storeKey(workspace: Pick<Workspace, 'uuid'>) {
  return ['object-store', workspace.uuid] as const;
}

/** Everything about one bucket. */
export function bucketKey(workspace: Pick<Workspace, 'uuid'>, bucket: string) {
  return [...storeKey(workspace), 'bucket', bucket] as const;
}

/** Everything about a workspace's sandboxes. */
export function sandboxesKey(workspace: Pick<Workspace, 'uuid'>) {
  return ['sandboxes', workspace.uuid] as const;
}

/** Everything about one sandbox. */
export function sandboxKey(workspace: Pick<Workspace, 'uuid'>, id: string) {
  return [...sandboxesKey(workspace), 'one', id] as const;
}

/** The files of a sandbox. */
export function filesKey(workspace: Pick<Workspace, 'uuid'>, id: string) {
  return [...sandboxKey(workspace, id), 'files'] as const;
}
