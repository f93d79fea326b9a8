import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stat } from 'node:fs/promises';
import { usageFailure } from '../client/command-failure.ts';
import type { ConnectionFlags } from '../client/connection.ts';
import type { Session } from '../client/session.ts';
import { ProgressLine } from '../transfer/progress.ts';
import { emptySummary, finishTasks, runTasks } from '../transfer/run-tasks.ts';
import { downloadTasks, uploadTasks, type CopyPlace, type FileHolder } from './copy-tasks.ts';
import { parseRemotePath } from './remote-path.ts';

export interface CopyFlags extends ConnectionFlags {
  recursive?: boolean;
  quiet?: boolean;
}

/** Where the remote side of a copy is: a sandbox or a volume. */
export interface CopyKind {
  readonly noun: string;
  /** Finds what the location names. */
  readonly find: (name: string) => Promise<FileHolder>;
}

const PARALLEL = 8;

/** Copies files and folders between this machine and a sandbox or volume. */
export async function copyFiles(
  session: Session,
  { noun, find }: CopyKind,
  source: string,
  target: string,
  flags: CopyFlags,
): Promise<void> {
  const [from, to] = [parseRemotePath(source), parseRemotePath(target)];
  if ((from === null) === (to === null)) {
    throw usageFailure(`exactly one argument must be in a ${noun}`, `for example: svc ${noun} cp file.txt NAME:/tmp/`);
  }
  if (from !== null) await copyOut(session, await find(from.name), from.path, target, flags);
  else if (to !== null) await copyIn(session, source, await find(to.name), to.path, flags);
}

async function copyOut(
  session: Session,
  holder: FileHolder,
  path: string,
  target: string,
  flags: CopyFlags,
): Promise<void> {
  if (target === '-') {
    const { body } = await holder.files.read(path, { signal: session.signal });
    await writeStandardOutput(body, session.signal);
    return;
  }
  const recursive = flags.recursive === true;
  await run(session, flags, (place) => downloadTasks(place, path, target, recursive), holder);
}

async function copyIn(
  session: Session,
  source: string,
  holder: FileHolder,
  path: string,
  flags: CopyFlags,
): Promise<void> {
  if (source === '-') {
    if (path.endsWith('/')) throw usageFailure('standard input has no file name', 'give the full target path');
    const written = await holder.files.write(path, readStandardInput(), { signal: session.signal });
    session.output.answer(
      { path, size: written.size },
      flags.quiet === true ? [] : [`upload: - -> ${holder.name}:${path}`],
    );
    return;
  }
  const isFolder = (await stat(source)).isDirectory();
  if (isFolder && flags.recursive !== true) throw usageFailure(`${source} is a folder`, 'use -r to copy it');
  await run(session, flags, (place) => uploadTasks(place, source, path), holder);
}

async function run(
  { output, signal }: Session,
  flags: CopyFlags,
  createTasks: (place: CopyPlace) => ReturnType<typeof uploadTasks>,
  holder: FileHolder,
): Promise<void> {
  const quiet = flags.quiet === true;
  const progress = new ProgressLine(process.stderr.isTTY && !quiet && !output.json ? process.stderr : null);
  const options = { output, progress, parallel: PARALLEL, dryRun: false, quiet, signal };
  const warn = (line: string): void => {
    progress.clear();
    output.warn(line);
  };
  const summary = emptySummary(false);
  try {
    const place = { holder, progress, signal, warn };
    await runTasks(createTasks(place), summary, options);
  } finally {
    progress.close();
  }
  finishTasks(summary, options);
}

function readStandardInput(): ReadableStream<Uint8Array> {
  return Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>; // no encoding is set, so these are bytes
}

/** Writes only the bytes. */
async function writeStandardOutput(body: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<void> {
  await pipeline(body, process.stdout, { signal, end: false });
}
