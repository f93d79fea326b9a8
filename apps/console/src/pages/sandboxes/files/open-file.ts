import type { RemoteFiles, SandboxesClient, Workspace } from '@svc/sdk';
import { queryOptions } from '@tanstack/react-query';
import type { FileOwner } from '../../../api/sandbox-types.ts';
import { filesOf } from '../../../api/sandboxes.ts';
import { imageTypeOf, MOST_IMAGE_BYTES, MOST_TEXT_BYTES } from './file-kinds.ts';

interface TextFile {
  text: string;
  /** Identifies this content, so that a save can detect other changes. */
  etag: string | null;
}

export type OpenedFile =
  | ({ kind: 'text' } & TextFile)
  | { kind: 'image'; type: string; bytes: Uint8Array<ArrayBuffer> }
  | { kind: 'other' };

export type OpenedText = Extract<OpenedFile, { kind: 'text' }>;

/** Loaded once, so that a file does not change while it is edited. */
export function openFileQuery(api: SandboxesClient, workspace: Workspace, owner: FileOwner, path: string) {
  const files = filesOf(api, owner);
  return queryOptions({
    // Separate from a sandbox's other keys, which are refetched on every event.
    queryKey: ['file', workspace.uuid, owner, path],
    queryFn: async ({ signal }): Promise<OpenedFile> => {
      const type = imageTypeOf(path);
      if (type !== null && (await files.stat(path, { signal })).size <= MOST_IMAGE_BYTES) {
        return { kind: 'image', type, bytes: await files.readBytes(path, { signal }) };
      }
      const text = await readText(files, path, signal);
      return text === null ? { kind: 'other' } : { kind: 'text', ...text };
    },
    staleTime: Infinity,
    gcTime: 0,
  });
}

/** Reads a whole file as UTF-8; null if it is too large or not text. */
async function readText(files: RemoteFiles, path: string, signal: AbortSignal): Promise<TextFile | null> {
  const { body, sizeBytes, etag } = await files.read(path, { signal });
  if (sizeBytes === null || sizeBytes > MOST_TEXT_BYTES) {
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
