import type { SandboxFiles, Transport, Workspace } from '@svc/sdk';
import { scopeOf } from './queries.ts';

export interface TextFile {
  text: string;
  /** Identifies this content, so that a save can detect other changes. */
  etag: string | null;
}

/** Reads a whole file of at most `limitBytes` as UTF-8; null if it is larger or not text. */
export async function readTextFile(
  files: SandboxFiles,
  path: string,
  limitBytes: number,
  signal: AbortSignal,
): Promise<TextFile | null> {
  const { body, sizeBytes, etag } = await files.read(path, { signal });
  if (sizeBytes === null || sizeBytes > limitBytes) {
    await body.cancel();
    return null;
  }
  const text = decodeText(new Uint8Array(await new Response(body).arrayBuffer()));
  return text === null ? null : { text, etag };
}

/** Returns null for invalid UTF-8 or a NUL byte, which text never contains. */
function decodeText(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Path for downloading a file, or with `archive` a folder as tar; the browser sends the session cookie. */
export function sandboxDownloadPath(
  workspace: Workspace,
  sandbox: string,
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
  return `/api/sandboxes/${encodeURIComponent(sandbox)}/files?${query.toString()}`;
}

export interface SandboxPlace {
  workspaceUuid: string;
  teamUuid: string | undefined;
  sandbox: string;
}

/** A request with the raw file as its body, for senders that report progress. */
export function sandboxUploadRequest(
  transport: Transport,
  { workspaceUuid, teamUuid, sandbox }: SandboxPlace,
  path: string,
): { url: string; headers: Record<string, string> } {
  const { url, headers } = transport.prepare({
    method: 'POST',
    path: `/api/sandboxes/${encodeURIComponent(sandbox)}/files`,
    query: { path, workspace_uuid: workspaceUuid, team_uuid: teamUuid },
  });
  return { url, headers: { ...headers, 'content-type': 'application/octet-stream' } };
}
