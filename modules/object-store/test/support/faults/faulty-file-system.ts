import type { FileSystem, OpenFile } from '../../../src/adapters/engines/embedded/file-system.ts';

export type FileCall = 'open' | 'mkdir' | 'rename' | 'unlink' | 'stat' | 'writev' | 'read' | 'datasync' | 'sync';

/** Null lets the call through; a code makes it fail with that code and no effect. */
export type FaultPlan = (call: FileCall, path: string) => string | null;

/** A file system whose calls fail as planned, like those of a failing or full disk. */
export function faultyFileSystem(below: FileSystem, plan: FaultPlan): FileSystem {
  const unlessFaulty = async <Result>(call: FileCall, path: string, work: () => Promise<Result>): Promise<Result> => {
    const code = plan(call, path);
    if (code === null) return await work();
    throw Object.assign(new Error(`${code}: ${call} '${path}' (injected)`), { code, syscall: call, path });
  };
  const wrap = (path: string, file: OpenFile): OpenFile => ({
    writev: (chunks) => unlessFaulty('writev', path, () => file.writev(chunks)),
    read: (...place) => unlessFaulty('read', path, () => file.read(...place)),
    datasync: () => unlessFaulty('datasync', path, () => file.datasync()),
    sync: () => unlessFaulty('sync', path, () => file.sync()),
    close: () => file.close(),
  });
  return {
    open: (path, flags) => unlessFaulty('open', path, async () => wrap(path, await below.open(path, flags))),
    mkdir: (path) => unlessFaulty('mkdir', path, () => below.mkdir(path)),
    rename: (from, to) => unlessFaulty('rename', from, () => below.rename(from, to)),
    unlink: (path) => unlessFaulty('unlink', path, () => below.unlink(path)),
    stat: (path) => unlessFaulty('stat', path, () => below.stat(path)),
    names: (folder) => below.names(folder),
    freeBytes: (folder) => below.freeBytes(folder),
  };
}

/** Fails the calls with these numbers, counted from 0 over all kinds of call. */
export function failingCall(numbers: ReadonlySet<number>, code: string): FaultPlan & { calls: () => number } {
  let count = 0;
  const plan: FaultPlan = () => {
    const fails = numbers.has(count);
    count += 1;
    return fails ? code : null;
  };
  return Object.assign(plan, { calls: () => count });
}
