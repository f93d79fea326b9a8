import type { Workspace } from '@svc/sdk';
import type { FileOwner } from './sandbox-types.ts';

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

/** Everything about a workspace's volumes, except their files. */
export function volumesKey(workspace: Pick<Workspace, 'uuid'>) {
  return [...sandboxesKey(workspace), 'volumes'] as const;
}

/** The folders of a sandbox or volume. Those of a volume are not refetched on events of sandboxes. */
export function filesKey(workspace: Pick<Workspace, 'uuid'>, { kind, id }: FileOwner) {
  if (kind === 'volume') return ['volume-files', workspace.uuid, id] as const;
  return [...sandboxKey(workspace, id), 'files'] as const;
}
