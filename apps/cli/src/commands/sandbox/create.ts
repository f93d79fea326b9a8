import type { NewSandbox } from '@svc/sdk';
import type { Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { readDurationMs } from '../../client/key-request.ts';
import { printable } from '../../client/output.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { CreationProgress } from './creation-progress.ts';
import { collect, readPairs, withSandboxes } from './with-sandboxes.ts';

interface CreateFlags extends ConnectionFlags {
  name?: string;
  env?: string[];
  label?: string[];
  cpu?: string;
  memory?: string;
  disk?: string;
  pids?: string;
  network?: string;
  allow?: string[];
  isolation?: string;
  idle?: string;
  lifetime?: string;
  snapshot?: string;
  wait: boolean;
}

export function registerSandboxCreate(parent: Command): void {
  addConnectionOptions(parent.command('create'))
    .description('make a sandbox; answers when it runs')
    .argument('[image]', 'a name of svc sandbox images')
    .option('--name <name>', 'else one is made')
    .option('--env <KEY=VALUE>', 'variables of everything that runs in it', collect)
    .option('--label <KEY=VALUE>', 'to find it by', collect)
    .option('--cpu <cores>', 'such as 0.5')
    .option('--memory <MiB>', 'such as 512')
    .option('--disk <MiB>', 'what it may write, such as 2048')
    .option('--pids <count>', 'processes at most')
    .option('--network <kind>', 'egress or none')
    .option('--allow <host>', 'only these hosts are reached, such as example.com or *.example.com', collect)
    .option('--isolation <kind>', 'default, namespaces or gvisor')
    .option('--idle <time>', 'stopped when nobody used it for so long, such as 15m')
    .option('--lifetime <time>', 'deleted after so long, such as 12h')
    .option('--snapshot <id>', 'with the files of a snapshot, in place of an image')
    .option('--no-wait', 'answer at once, while it is being made')
    .action((image: string | undefined, flags: CreateFlags) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        const waitMs = flags.wait ? undefined : 0;
        const progress = new CreationProgress(process.stderr, () => performance.now());
        const onProgress = flags.wait ? progress.show : undefined;
        const made = sandboxes.create(readRequest(image, flags), { waitMs, onProgress, signal });
        const { info } = await made.finally(() => progress.end());
        output.answer(info, [
          `${printable(info.name)} (${info.id}) is ${info.status}`,
          ...(info.status === 'running' ? [`svc sandbox shell ${printable(info.name)} opens a shell`] : []),
        ]);
      }),
    );
}

function readRequest(image: string | undefined, flags: CreateFlags): NewSandbox {
  const { name, env, label, snapshot, allow } = flags;
  if (image === undefined && snapshot === undefined) {
    throw usageFailure('an image or a snapshot is wanted', 'svc sandbox images shows what there is');
  }
  if (image !== undefined && snapshot !== undefined) {
    throw usageFailure('a snapshot has its image already', `leave ${JSON.stringify(image)} out`);
  }
  const resources = {
    ...(flags.cpu !== undefined && { cpu: readNumber(flags.cpu, '--cpu') }),
    ...(flags.memory !== undefined && { memory_mb: readNumber(flags.memory, '--memory') }),
    ...(flags.disk !== undefined && { disk_mb: readNumber(flags.disk, '--disk') }),
    ...(flags.pids !== undefined && { pids: readNumber(flags.pids, '--pids') }),
  };
  return {
    ...(image === undefined ? { snapshot_id: snapshot } : { image }),
    ...(name !== undefined && { name }),
    ...(env !== undefined && { environment: readPairs(env, 'variable') }),
    ...(label !== undefined && { labels: readPairs(label, 'label') }),
    ...(Object.keys(resources).length > 0 && { resources }),
    ...(flags.network !== undefined && { network: readNetwork(flags.network) }),
    ...(allow !== undefined && { egress_allow: allow.flatMap((host) => host.split(',')) }),
    ...(flags.isolation !== undefined && { isolation: readIsolation(flags.isolation) }),
    ...(flags.idle !== undefined && { idle_timeout_seconds: readSeconds(flags.idle) }),
    ...(flags.lifetime !== undefined && { max_lifetime_seconds: readSeconds(flags.lifetime) }),
  };
}

function readNumber(text: string, flag: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw usageFailure(`${flag} is not a number`);
  return value;
}

function readSeconds(text: string): number {
  return Math.round(readDurationMs(text) / 1000);
}

function readNetwork(text: string): 'none' | 'egress' {
  if (text === 'none' || text === 'egress') return text;
  throw usageFailure(`${JSON.stringify(text)} is no network`, 'egress or none');
}

function readIsolation(text: string): 'default' | 'namespaces' | 'gvisor' {
  if (text === 'default' || text === 'namespaces' || text === 'gvisor') return text;
  throw usageFailure(`${JSON.stringify(text)} is no isolation`, 'default, namespaces or gvisor');
}
