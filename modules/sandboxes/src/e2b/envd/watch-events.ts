import type { Clock } from '@svc/runtime';
import type { FileChange } from '../../domain/files/file-watch.ts';
import type { SandboxFiles } from '../../domain/files/file-service.ts';
import { sandboxErrors } from '../../errors.ts';
import { absentIfMissing, Entries } from './entries.ts';
import { pathOf } from './paths.ts';
import { withKeepalive } from './keepalive.ts';
import { EVENT_TYPE, type ChangeMessage, type WatchMessage } from './messages/filesystem.ts';
import type { Call } from './rpc-service.ts';

type WatchEvent =
  | { readonly case: 'start' | 'keepalive'; readonly value: object }
  | { readonly case: 'filesystem'; readonly value: ChangeMessage };

/** Streams the changes below a folder until the client leaves. */
export async function* watchFolder(
  message: WatchMessage,
  { signal, keepaliveMs }: Call,
  open: () => Promise<SandboxFiles>,
  clock: Clock,
): AsyncGenerator<{ event: WatchEvent }, void> {
  const files = await open();
  const root = pathOf(files, message.path);
  await assertFolder(files, root);
  const describe = describeChanges(files, root, message);
  const watch = await files.watch(root, { recursive: message.recursive });
  const close = (): void => watch.close();
  signal.addEventListener('abort', close, { once: true });
  try {
    yield { event: { case: 'start', value: {} } };
    const idle = { event: { case: 'keepalive', value: {} } } as const;
    const changes = async function* (): AsyncGenerator<{ event: WatchEvent }, void> {
      for await (const change of watch.changes()) {
        for (const value of await describe(change)) yield { event: { case: 'filesystem', value } };
      }
    };
    yield* withKeepalive(changes(), idle, keepaliveMs, clock, signal);
  } finally {
    signal.removeEventListener('abort', close);
    watch.close();
  }
}

/** A folder is listed before it is watched, because a file could be watched too. */
export async function assertFolder(files: SandboxFiles, path: string): Promise<void> {
  await files.list(path, { limit: 1 });
}

/** Adds the entries of what was created or written, if the client asked for them and they are still there. */
export function describeChanges(
  files: SandboxFiles,
  root: string,
  { includeEntry }: Pick<WatchMessage, 'includeEntry'>,
): (change: FileChange) => Promise<readonly ChangeMessage[]> {
  const entries = new Entries(files);
  return async (change) => {
    const rendered = toChangeMessages(root, change);
    if (!includeEntry) return rendered;
    return Promise.all(
      rendered.map(async (message) => {
        if (message.type !== EVENT_TYPE.create && message.type !== EVENT_TYPE.write) return message;
        const entry = await entries.of(change.path).catch(absentIfMissing);
        return entry === null ? message : { ...message, entry };
      }),
    );
  };
}

/** Clients name changes relative to the watched folder; a move is a rename of the old name and a new name. */
function toChangeMessages(root: string, { type, path, from, isWritten }: FileChange): ChangeMessage[] {
  const name = (of: string): string => (of.startsWith(`${root}/`) ? of.slice(root.length + 1) : of.replace(/^\//, ''));
  switch (type) {
    case 'created': {
      // E2B's own writer makes a file, gives it to its user, and writes it.
      const types = isWritten ? [EVENT_TYPE.create, EVENT_TYPE.chmod, EVENT_TYPE.write] : [EVENT_TYPE.create];
      return types.map((each) => ({ name: name(path), type: each }));
    }
    case 'changed':
      return [{ name: name(path), type: EVENT_TYPE.write }];
    case 'removed':
      return [{ name: name(path), type: EVENT_TYPE.remove }];
    case 'moved': {
      const old = from === null ? [] : [{ name: name(from), type: EVENT_TYPE.rename }];
      return [...old, { name: name(path), type: EVENT_TYPE.create }];
    }
    case 'overflow':
      throw sandboxErrors.WATCH_OVERFLOW();
  }
}
