import { isAppError } from '@svc/errors';
import type { FileEntry } from '../../domain/files/file-entry.ts';
import { joinPath } from '../../domain/files/file-path.ts';
import type { FilePage, SandboxFiles } from '../../domain/files/file-service.ts';

const PERMISSIONS = 0o7777;
/** The pages of one level of folders at a time are in memory, so that they are shorter in a deep listing. */
const PAGE_SIZE = 1000;
const DEEP_PAGE_SIZE = 200;

/** A file as clients of a volume's content expect it. */
export function toVolumeEntry(path: string, entry: FileEntry) {
  return {
    name: path === '/' ? '/' : entry.name,
    type: typeOf(entry),
    path,
    size: entry.sizeBytes,
    mode: entry.mode & PERMISSIONS,
    uid: entry.uid,
    gid: entry.gid,
    atime: microseconds(entry.accessedAt),
    mtime: microseconds(entry.modifiedAt),
    ctime: microseconds(entry.changedAt),
    ...(entry.linkTarget === null ? {} : { target: entry.linkTarget }),
  };
}

/**
 * Lists a folder as a JSON array, folders below it included up to a depth, each behind its own entry. Links are not followed. The
 * first page is read before this resolves, so that a missing folder throws; the rest follows as it is consumed. The listing
 * throws when the files are gone.
 */
export async function listAsJson(files: SandboxFiles, path: string, depth: number): Promise<AsyncGenerator<string>> {
  const limit = depth > 1 ? DEEP_PAGE_SIZE : PAGE_SIZE;
  const first = await files.list(path, { limit });
  return inArray(files, entriesBelow(files, path, { depth, limit, first }));
}

interface Level {
  readonly depth: number;
  readonly limit: number;
  readonly first: FilePage;
}

async function* entriesBelow(files: SandboxFiles, path: string, level: Level): AsyncGenerator<string> {
  const { depth, limit } = level;
  for (let page = level.first; ;) {
    for (const entry of page.entries) {
      const below = joinPath(path, entry.name);
      yield JSON.stringify(toVolumeEntry(below, entry));
      if (entry.type !== 'dir' || depth <= 1) continue;
      const first = await files.list(below, { limit }).catch(nullIfGone);
      if (first !== null) yield* entriesBelow(files, below, { depth: depth - 1, limit, first });
    }
    if (page.nextCursor === null) return;
    const next = await files.list(path, { limit, cursor: page.nextCursor }).catch(nullIfGone);
    if (next === null) return;
    page = next;
  }
}

async function* inArray(files: SandboxFiles, items: AsyncGenerator<string>): AsyncGenerator<string> {
  let before = '[';
  for await (const item of items) {
    files.assertReachable(); // the entries may be from a page that was read before
    yield before + item;
    before = ',';
  }
  yield before === '[' ? '[]' : ']';
}

/** The folder was removed or replaced meanwhile. */
function nullIfGone(error: unknown): null {
  if (isAppError(error) && (error.code === 'PATH_NOT_FOUND' || error.code === 'NOT_A_DIRECTORY')) return null;
  throw error;
}

function typeOf({ type }: FileEntry): 'file' | 'directory' | 'symlink' | 'unknown' {
  if (type === 'dir') return 'directory';
  return type === 'other' ? 'unknown' : type;
}

/** Some clients parse no more digits. */
function microseconds(time: string): string {
  return `${time.slice(0, 26)}Z`;
}
