import type { Transport, Workspace } from '@svc/sdk';
import { scopeOf } from './queries.ts';
import type { FileOwner } from './sandbox-types.ts';

const COLLECTIONS = { sandbox: 'sandboxes', volume: 'volumes' } as const;

function filesPath({ kind, id }: FileOwner): string {
  return `/api/${COLLECTIONS[kind]}/${encodeURIComponent(id)}/files`;
}

/** Path for downloading a file, or with `archive` a folder as tar; the browser sends the session cookie. */
export function fileDownloadPath(
  workspace: Workspace,
  owner: FileOwner,
  path: string,
  { archive = false }: { archive?: boolean } = {},
): string {
  const { workspaceUuid, teamUuid } = scopeOf(workspace);
  const query = new URLSearchParams({
    path,
    workspace_uuid: workspaceUuid,
    ...(teamUuid !== undefined && { team_uuid: teamUuid }),
    ...(archive && { archive: 'tar' }),
  });
  return `${filesPath(owner)}?${query.toString()}`;
}

export interface FilePlace {
  workspaceUuid: string;
  teamUuid: string | undefined;
  owner: FileOwner;
}

/** A request with the raw file as its body, for senders that report progress. */
export function fileUploadRequest(
  transport: Transport,
  { workspaceUuid, teamUuid, owner }: FilePlace,
  path: string,
): { url: string; headers: Record<string, string> } {
  const { url, headers } = transport.prepare({
    method: 'POST',
    path: filesPath(owner),
    query: { path, workspace_uuid: workspaceUuid, team_uuid: teamUuid },
  });
  return { url, headers: { ...headers, 'content-type': 'application/octet-stream' } };
}
