import type { SandboxesClient, Workspace } from '@svc/sdk';
import { queryOptions } from '@tanstack/react-query';
import { readTextFile, type TextFile } from '../../../api/sandbox-files.ts';
import { imageTypeOf, MOST_IMAGE_BYTES, MOST_TEXT_BYTES } from './file-kinds.ts';

export type OpenedFile =
  | ({ kind: 'text' } & TextFile)
  | { kind: 'image'; type: string; bytes: Uint8Array<ArrayBuffer> }
  | { kind: 'other' };

export type OpenedText = Extract<OpenedFile, { kind: 'text' }>;

/** Loaded once, so that a file does not change while it is edited. */
export function openFileQuery(api: SandboxesClient, workspace: Workspace, sandbox: string, path: string) {
  const { files } = api.of(sandbox);
  return queryOptions({
    // Separate from the sandbox's other keys, which are refetched on every event.
    queryKey: ['sandbox-file', workspace.uuid, sandbox, path],
    queryFn: async ({ signal }): Promise<OpenedFile> => {
      const type = imageTypeOf(path);
      if (type !== null && (await files.stat(path, { signal })).size <= MOST_IMAGE_BYTES) {
        return { kind: 'image', type, bytes: await files.readBytes(path, { signal }) };
      }
      const text = await readTextFile(files, path, MOST_TEXT_BYTES, signal);
      return text === null ? { kind: 'other' } : { kind: 'text', ...text };
    },
    staleTime: Infinity,
    gcTime: 0,
  });
}
