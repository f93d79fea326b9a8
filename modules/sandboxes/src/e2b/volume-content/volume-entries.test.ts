import { expect, it } from 'vitest';
import { sandboxErrors } from '../../errors.ts';
import type { FileEntry } from '../../domain/files/file-entry.ts';
import type { SandboxFiles } from '../../domain/files/file-service.ts';
import { listAsJson } from './volume-entries.ts';

const TIME = '2026-01-01T00:00:00.000000000Z';
const entry = (name: string, type: 'dir' | 'file') =>
  ({
    name,
    type,
    sizeBytes: 0,
    mode: 0o644,
    accessedAt: TIME,
    modifiedAt: TIME,
    changedAt: TIME,
    linkTarget: null,
  }) as Partial<FileEntry> as FileEntry; // the fields of a listing

/** A folder with a folder of two files. */
function filesWith(isGone: () => boolean): SandboxFiles {
  const files = {
    list: async (path: string) => ({
      entries: path === '/' ? [entry('below', 'dir'), entry('z', 'file')] : [entry('a', 'file'), entry('b', 'file')],
      nextCursor: null,
      total: 2,
    }),
    assertReachable: () => {
      if (isGone()) throw sandboxErrors.SANDBOX_NOT_RUNNING({ details: { status: 'no longer reachable' } });
    },
  };
  return files as Partial<SandboxFiles> as SandboxFiles; // what a listing uses
}

it('lists folders below a folder, each behind its own entry', async () => {
  const pieces: string[] = [];
  for await (const piece of await listAsJson(
    filesWith(() => false),
    '/',
    2,
  ))
    pieces.push(piece);
  const paths = (JSON.parse(pieces.join('')) as { path: string }[]).map(({ path }) => path);
  expect(paths).toEqual(['/below', '/below/a', '/below/b', '/z']);
});

it('ends once the files are gone, even with entries that were read before', async () => {
  let isGone = false;
  const listing = await listAsJson(
    filesWith(() => isGone),
    '/',
    2,
  );
  expect((await listing.next()).value).toContain('/below');
  expect((await listing.next()).value).toContain('/below/a');
  isGone = true;
  await expect(listing.next()).rejects.toMatchObject({ code: 'SANDBOX_NOT_RUNNING' });
});
