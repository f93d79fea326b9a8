import { mkdir, readdir, stat } from 'node:fs/promises';
import { basename, join, posix } from 'node:path';
import { ApiError, type FileEntry, type RemoteFiles } from '@svc/sdk';
import { usageFailure } from '../client/command-failure.ts';
import { printable } from '../client/output.ts';
import type { ProgressLine } from '../transfer/progress.ts';
import type { TransferTask } from '../transfer/run-tasks.ts';
import { downloadFile, uploadFile } from './copy-file.ts';

/** A sandbox or a volume, and its files. */
export interface FileHolder {
  readonly name: string;
  readonly files: RemoteFiles;
}

export interface CopyPlace {
  holder: FileHolder;
  progress: ProgressLine;
  signal: AbortSignal;
  /** Reports skipped entries. */
  warn: (line: string) => void;
}

/** Yields the uploads of a file, or of a folder and its contents. */
export async function* uploadTasks(
  place: CopyPlace,
  source: string,
  target: string,
): AsyncGenerator<TransferTask, void> {
  const { holder, signal } = place;
  const toFolder = target.endsWith('/') || (await isRemoteFolder(holder, target, signal));
  const path = toFolder ? posix.join(target, basename(source)) : target;
  if (!(await stat(source)).isDirectory()) yield await uploadTask(place, source, path);
  else yield* uploadFolder(place, source, path);
}

async function* uploadFolder(place: CopyPlace, folder: string, path: string): AsyncGenerator<TransferTask, void> {
  await place.holder.files.mkdir(path, { signal: place.signal });
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const [source, target] = [join(folder, entry.name), posix.join(path, entry.name)];
    if (entry.isDirectory()) yield* uploadFolder(place, source, target);
    else if (entry.isFile()) yield await uploadTask(place, source, target);
    else place.warn(`left out ${printable(source)}: neither a file nor a folder`);
  }
}

async function uploadTask(place: CopyPlace, source: string, path: string): Promise<TransferTask> {
  const { holder, progress, signal } = place;
  const { size } = await stat(source);
  const run = (): Promise<number> => uploadFile(holder.files, source, path, progress.body(), signal);
  return { verb: 'upload', from: source, to: `${holder.name}:${path}`, sizeBytes: size, run };
}

/** Yields the downloads of a file, or of a folder and its contents. */
export async function* downloadTasks(
  place: CopyPlace,
  path: string,
  target: string,
  recursive: boolean,
): AsyncGenerator<TransferTask, void> {
  const entry = await place.holder.files.stat(path, { signal: place.signal });
  if (entry.is_dir && !recursive) throw usageFailure(`${path} is a folder`, 'use -r to copy it');
  const toFolder = target.endsWith('/') || (await isLocalFolder(target));
  const into = toFolder ? join(target, safeName(entry) ?? 'root') : target;
  if (entry.is_dir) yield* downloadFolder(place, path, into);
  else if (entry.type === 'file' || entry.type === 'symlink') yield downloadTask(place, { ...entry, path }, into);
  else throw usageFailure(`${path} is neither a file nor a folder`);
}

async function* downloadFolder(place: CopyPlace, path: string, folder: string): AsyncGenerator<TransferTask, void> {
  await mkdir(folder, { recursive: true });
  for await (const entry of place.holder.files.list(path, { signal: place.signal })) {
    const name = safeName(entry);
    const from = posix.join(path, entry.name);
    if (name === null) place.warn(`left out ${printable(from)}: not a name for a file here`);
    else if (entry.type === 'dir') yield* downloadFolder(place, from, join(folder, name));
    else if (entry.type === 'file') yield downloadTask(place, { ...entry, path: from }, join(folder, name));
    else place.warn(`left out ${printable(from)}: neither a file nor a folder`);
  }
}

function downloadTask({ holder, progress, signal }: CopyPlace, entry: FileEntry, target: string): TransferTask {
  const mode = Number.parseInt(entry.mode_octal, 8);
  const run = (): Promise<number> => downloadFile(holder.files, entry.path, target, mode, progress.body(), signal);
  return { verb: 'download', from: `${holder.name}:${entry.path}`, to: target, sizeBytes: entry.size, run };
}

/** Names come from inside of a sandbox: refuses those that would lead elsewhere or are not valid text. */
function safeName({ name, name_b64: bytes }: FileEntry): string | null {
  const last = posix.basename(name);
  if (bytes !== undefined || last !== name || name === '' || name === '.' || name === '..') return null;
  return /[\0/\\]/.test(name) ? null : name;
}

async function isRemoteFolder({ files }: FileHolder, path: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await files.stat(path, { signal })).is_dir;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}

async function isLocalFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found?.isDirectory() === true;
}
