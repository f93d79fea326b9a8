import { isAppError } from '@svc/errors';
import type { Clock } from '@svc/runtime';
import { joinPath } from '../../domain/files/file-path.ts';
import type { FileService, SandboxFiles } from '../../domain/files/file-service.ts';
import { sandboxErrors } from '../../errors.ts';
import { Entries } from './entries.ts';
import { METADATA_PREFIX } from './file-metadata.ts';
import {
  describeFilesystem,
  type EntryMessage,
  type ListMessage,
  type MoveMessage,
  type PathMessage,
  type WatcherMessage,
  type WatchMessage,
} from './messages/filesystem.ts';
import { pathOf } from './paths.ts';
import type { Call, RpcMethod, RpcService } from './rpc-service.ts';
import { filesFor } from './users.ts';
import { watchFolder } from './watch-events.ts';
import type { Watchers } from './watchers.ts';

/** A listing is one message. */
const MAX_ENTRIES = 50_000;
const PAGE_SIZE = 1000;

export interface FilesystemRpcDeps {
  readonly files: FileService;
  readonly watchers: Watchers;
  readonly clock: Clock;
}

/** `filesystem.Filesystem` over the files of a sandbox. Messages are parsed by their descriptors, hence the casts. */
export function createFilesystemRpc({ files, watchers, clock }: FilesystemRpcDeps): RpcService {
  const of = async ({ sandbox, user }: Call): Promise<SandboxFiles> =>
    filesFor(await files.of(sandbox.workspaceUuid, sandbox.id), user, sandbox);
  const reads = { action: 'sandbox:files-read', isUnaudited: true } as const;
  return {
    name: 'filesystem.Filesystem',
    describe: describeFilesystem,
    methods: {
      ...changing(files),
      Stat: {
        ...reads,
        unary: async (message, call) => {
          const opened = await of(call);
          return { entry: await stat(opened, pathOf(opened, (message as PathMessage).path)) };
        },
      },
      ListDir: {
        ...reads,
        unary: async (message, call) => {
          const { path, depth } = message as ListMessage;
          const opened = await of(call);
          return { entries: await listTree(opened, pathOf(opened, path), Math.max(1, depth), call.signal) };
        },
      },
      WatchDir: {
        ...reads,
        stream: (message, call) => watchFolder(message as WatchMessage, call, () => of(call), clock),
      },
      CreateWatcher: {
        ...reads,
        unary: async (message, call) => ({
          watcherId: await watchers.create(call.sandbox.id, await of(call), message as WatchMessage),
        }),
      },
      GetWatcherEvents: {
        ...reads,
        unary: async (message, call) => ({
          events: watchers.take(call.sandbox.id, (message as WatcherMessage).watcherId),
        }),
      },
      RemoveWatcher: {
        ...reads,
        unary: async (message, call) => {
          watchers.remove(call.sandbox.id, (message as WatcherMessage).watcherId);
          return {};
        },
      },
    },
  };
}

/** Methods that change files. */
function changing(files: FileService): Record<'MakeDir' | 'Move' | 'Remove', RpcMethod> {
  const action = 'sandbox:files-write';
  const of = async ({ sandbox, user }: Call): Promise<SandboxFiles> =>
    filesFor(await files.forWriting(sandbox.workspaceUuid, sandbox.id), user, sandbox);
  return {
    MakeDir: {
      action,
      unary: async (message, call) => {
        const opened = await of(call);
        const path = pathOf(opened, (message as PathMessage).path);
        const created = await opened.makeDirectory(path, { parents: true });
        if (!created) throw sandboxErrors.PATH_EXISTS({ details: { path } });
        return { entry: await stat(opened, path) };
      },
    },
    Move: {
      action,
      unary: async (message, call) => {
        const { source, destination } = message as MoveMessage;
        const opened = await of(call);
        const target = pathOf(opened, destination);
        const folder = target.slice(0, target.lastIndexOf('/'));
        if (folder !== '') await opened.makeDirectory(folder, { parents: true });
        await opened.move(pathOf(opened, source), target, { overwrite: true });
        return { entry: await stat(opened, target) };
      },
    },
    Remove: {
      action,
      unary: async (message, call) => {
        const opened = await of(call);
        const path = pathOf(opened, (message as PathMessage).path);
        await opened.remove(path, { recursive: true }).catch(ignoreMissing);
        return {};
      },
    },
  };
}

async function stat(files: SandboxFiles, path: string): Promise<EntryMessage> {
  return new Entries(files).of(path);
}

/** Lists a folder and, below it, folders down to `depth`. Does not follow links. */
async function listTree(
  files: SandboxFiles,
  root: string,
  depth: number,
  signal: AbortSignal,
): Promise<readonly EntryMessage[]> {
  const entries = new Entries(files);
  const found: EntryMessage[] = [];
  const visit = async (folder: string, left: number): Promise<void> => {
    const folders: string[] = [];
    let cursor: string | undefined;
    do {
      signal.throwIfAborted();
      const page = await files.list(folder, { limit: PAGE_SIZE, cursor }, METADATA_PREFIX);
      if (found.length + page.entries.length > MAX_ENTRIES) {
        const reason = `has more than ${MAX_ENTRIES} entries; list a part of it`;
        throw sandboxErrors.INVALID_FIELD({ details: { field: 'depth', reason } });
      }
      for (const entry of page.entries) {
        const path = joinPath(folder, entry.name);
        found.push(await entries.render(path, entry));
        if (entry.type === 'dir') folders.push(path);
      }
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    if (left > 1) for (const path of folders) await visit(path, left - 1);
  };
  await visit(root, depth);
  return found.toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

function ignoreMissing(error: unknown): void {
  if (!isAppError(error) || error.code !== 'PATH_NOT_FOUND') throw error;
}
