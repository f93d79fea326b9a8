import { stat } from 'node:fs/promises';
import type { Sandbox } from '@svc/sdk';
import type { Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { parseSandboxPath, type SandboxPath } from '../../sandbox-files/sandbox-path.ts';
import { readStandardInput, writeStandardOutput } from '../../sandbox-files/standard-streams.ts';
import { downloadTasks, uploadTasks, type CopyPlace } from '../../sandbox-files/copy-tasks.ts';
import { ProgressLine } from '../../transfer/progress.ts';
import { emptySummary, finishTasks, runTasks } from '../../transfer/run-tasks.ts';
import { withSandboxes, type SandboxSession } from './with-sandboxes.ts';

interface CopyFlags extends ConnectionFlags {
  recursive?: boolean;
  quiet?: boolean;
}

const PARALLEL = 8;

export function registerSandboxCopy(parent: Command): void {
  addConnectionOptions(parent.command('cp'))
    .description('Copy files and folders to or from a sandbox')
    .argument('<source>', 'File, folder, NAME:/PATH in a sandbox, or - for standard input')
    .argument('<target>', 'File, folder, NAME:/PATH in a sandbox, or - for standard output')
    .option('-r, --recursive', 'Copy a folder and everything in it except links and devices')
    .option('-q, --quiet', 'Print errors only')
    .addHelpText('after', '\nIf the target is a folder or ends in /, the source keeps its name.')
    .action((source: string, target: string, flags: CopyFlags) =>
      withSandboxes(flags, async (session) => {
        const [from, to] = [parseSandboxPath(source), parseSandboxPath(target)];
        if ((from === null) === (to === null)) {
          throw usageFailure(
            'exactly one argument must be in a sandbox',
            'for example: svc sandbox cp file.txt NAME:/tmp/',
          );
        }
        if (from !== null) await copyOut(session, from, target, flags);
        else if (to !== null) await copyIn(session, source, to, flags);
      }),
    );
}

async function copyOut(session: SandboxSession, from: SandboxPath, target: string, flags: CopyFlags): Promise<void> {
  const sandbox = await session.find(from.sandbox);
  if (target === '-') {
    const { body } = await sandbox.files.read(from.path, { signal: session.signal });
    await writeStandardOutput(body, session.signal);
    return;
  }
  const recursive = flags.recursive === true;
  await run(session, flags, (place) => downloadTasks(place, from.path, target, recursive), sandbox);
}

async function copyIn(session: SandboxSession, source: string, to: SandboxPath, flags: CopyFlags): Promise<void> {
  const sandbox = await session.find(to.sandbox);
  if (source === '-') {
    if (to.path.endsWith('/')) throw usageFailure('standard input has no file name', 'give the full target path');
    const written = await sandbox.files.write(to.path, readStandardInput(), { signal: session.signal });
    session.output.answer(
      { path: to.path, size: written.size },
      flags.quiet === true ? [] : [`upload: - -> ${sandbox.name}:${to.path}`],
    );
    return;
  }
  const isFolder = (await stat(source)).isDirectory();
  if (isFolder && flags.recursive !== true) throw usageFailure(`${source} is a folder`, 'use -r to copy it');
  await run(session, flags, (place) => uploadTasks(place, source, to.path), sandbox);
}

async function run(
  { output, signal }: SandboxSession,
  flags: CopyFlags,
  createTasks: (place: CopyPlace) => ReturnType<typeof uploadTasks>,
  sandbox: Sandbox,
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
    const place = { sandbox, progress, signal, warn };
    await runTasks(createTasks(place), summary, options);
  } finally {
    progress.close();
  }
  finishTasks(summary, options);
}
