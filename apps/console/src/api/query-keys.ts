import type { Workspace } from '@svc/sdk';

// What the keys of queries begin with: so a change is told to all that depends on it, without loading their modules.

/** Everything about the object store of a workspace. */
export function storeKey(workspace: Pick<Workspace, 'uuid'>) {
  return ['object-store', workspace.uuid] as const;
}

/** The same for one bucket. */
export function bucketKey(workspace: Pick<Workspace, 'uuid'>, bucket: string) {
  return [...storeKey(workspace), 'bucket', bucket] as const;
}

/** Everything about the sandboxes of a workspace. */
export function sandboxesKey(workspace: Pick<Workspace, 'uuid'>) {
  return ['sandboxes', workspace.uuid] as const;
}

/** The same for one sandbox. */
export function sandboxKey(workspace: Pick<Workspace, 'uuid'>, id: string) {
  return [...sandboxesKey(workspace), 'one', id] as const;
}

/** The files of a sandbox. */
export function filesKey(workspace: Pick<Workspace, 'uuid'>, id: string) {
  return [...sandboxKey(workspace, id), 'files'] as const;
}
