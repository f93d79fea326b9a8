import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { NewBuild, TemplatesClient } from '@svc/sdk';
import type { Command } from 'commander';
import { CommandFailure, usageFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { printable, renderBytes, type Output } from '../../client/output.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { collect, readPairs, withSandboxes } from '../sandbox/with-sandboxes.ts';
import { packSources, readIgnoreRules, type ContextArchive } from './build-context.ts';

interface BuildFlags extends ConnectionFlags {
  file?: string;
  from?: string;
  run?: string[];
  buildArg?: string[];
  target?: string;
  tag?: string[];
  cpu?: string;
  memory?: string;
  disk?: string;
  start?: string;
  ready?: string;
  cache: boolean;
  detach?: boolean;
}

export function registerTemplateBuild(parent: Command): void {
  addConnectionOptions(parent.command('build'))
    .description('Build a template from a Dockerfile, or from an image and commands')
    .argument('<name>', 'Name, or name:tag')
    .argument('[context]', 'Folder with the files that the Dockerfile copies', '.')
    .option('-f, --file <path>', 'Dockerfile (default: Dockerfile in the folder)')
    .option('--from <image>', 'Build from this image or template instead of a Dockerfile')
    .option('--run <command>', 'With --from, run this command; repeatable', collect)
    .option('--build-arg <KEY=VALUE>', 'Set an ARG of the Dockerfile; repeatable', collect)
    .option('--target <stage>', 'Build this stage of the Dockerfile')
    .option('--tag <tag>', 'Further tag of the build; repeatable', collect)
    .option('--cpu <cores>', 'CPU cores while building, and of sandboxes by default')
    .option('--memory <MiB>', 'Memory while building, and of sandboxes by default')
    .option('--disk <MiB>', 'Disk size while building, and of sandboxes by default')
    .option('--start <command>', 'Start this command in each sandbox')
    .option('--ready <command>', 'Command that succeeds once the start command is ready')
    .option('--no-cache', 'Run all steps again')
    .option('--detach', 'Return when the build has started')
    .action((given: string, context: string, flags: BuildFlags) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        const { templates } = sandboxes;
        const [name = '', tag] = given.split(':');
        const tags = [...(tag === undefined ? [] : [tag]), ...(flags.tag ?? [])];
        const request = {
          ...(await readSource(context, flags, templates, output, signal)),
          ...readSettings(flags),
          ...(tags.length > 0 && { tags }),
        };
        const build = await templates.build(name, request, { signal });
        if (flags.detach === true) {
          output.answer(build, [`Build ${build.id} of ${printable(name)} has started`]);
          return;
        }
        for await (const { message } of templates.logs(name, build.id, { signal })) output.note(printable(message));
        const ended = await templates.waitForBuild(name, build.id, { signal });
        if (ended.status !== 'ready') throw failure(ended.error);
        output.answer(ended, [`Template ${printable(name)}:${ended.tags.join(', :')} is ready`]);
      }),
    );
}

function failure(error: { message: string; line: number | null } | null): CommandFailure {
  const place = typeof error?.line === 'number' ? `line ${error.line}: ` : '';
  return new CommandFailure(`the build failed: ${place}${printable(error?.message ?? 'unknown')}`);
}

async function readSource(
  context: string,
  flags: BuildFlags,
  templates: TemplatesClient,
  output: Output,
  signal: AbortSignal,
): Promise<NewBuild> {
  const { from, run = [], file, buildArg = [], target } = flags;
  if (from !== undefined) {
    if (file !== undefined) throw usageFailure('--from cannot be combined with --file');
    return { from, steps: run.map((command) => ({ run: command })) };
  }
  if (run.length > 0) throw usageFailure('--run requires --from');
  const path = file ?? join(context, 'Dockerfile');
  const dockerfile = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new CommandFailure(`${path} cannot be read`, { hint: 'choose another one with --file', cause });
  });
  const given = {
    dockerfile,
    ...(buildArg.length > 0 && { build_args: readPairs(buildArg, 'build argument') }),
    ...(target !== undefined && { target }),
  };
  const { copies } = await templates.plan(given, { signal });
  const rules = await readIgnoreRules(context);
  const files: string[] = [];
  for (const { sources } of copies) {
    const archive = await packSources(context, sources, rules);
    try {
      await upload(archive, sources, templates, output, signal);
    } finally {
      await archive.remove();
    }
    files.push(archive.sha256);
  }
  return { ...given, ...(files.length > 0 && { files }) };
}

async function upload(
  { sha256, file, sizeBytes }: ContextArchive,
  sources: readonly string[],
  templates: TemplatesClient,
  output: Output,
  signal: AbortSignal,
): Promise<void> {
  if (await templates.hasFiles(sha256, { signal })) return;
  output.note(`Uploading ${sources.map(printable).join(' ')} (${renderBytes(sizeBytes)})`);
  // A stream of this kind has bytes; Node's type does not say so.
  const body = Readable.toWeb(createReadStream(file)) as ReadableStream<Uint8Array>;
  await templates.uploadFiles(sha256, body, { signal });
}

function readSettings(flags: BuildFlags): Omit<NewBuild, 'from'> {
  const resources = {
    ...(flags.cpu !== undefined && { cpu: readNumber(flags.cpu, '--cpu') }),
    ...(flags.memory !== undefined && { memory_mb: readNumber(flags.memory, '--memory') }),
    ...(flags.disk !== undefined && { disk_mb: readNumber(flags.disk, '--disk') }),
  };
  return {
    ...(Object.keys(resources).length > 0 && { resources }),
    ...(flags.start !== undefined && { start_command: flags.start }),
    ...(flags.ready !== undefined && { ready_command: flags.ready }),
    ...(!flags.cache && { no_cache: true }),
  };
}

function readNumber(text: string, flag: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw usageFailure(`${flag} is not a number`);
  return value;
}
