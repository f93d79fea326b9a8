import type { NewSandbox } from '@svc/sdk';
import type { Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { printable } from '../../client/output.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { CreationProgress } from './creation-progress.ts';
import { readRule, RULE_HELP } from './rules.ts';
import { splitTargets } from './egress.ts';
import { collect, readPairs, readSeconds, withSandboxes } from './with-sandboxes.ts';

interface CreateFlags extends ConnectionFlags {
  name?: string;
  env?: string[];
  label?: string[];
  cpu?: string;
  memory?: string;
  disk?: string;
  pids?: string;
  gpus?: string;
  network?: string;
  allow?: string[];
  deny?: string[];
  rule?: string[];
  volume?: string[];
  mount?: string[];
  isolation?: string;
  idle?: string;
  lifetime?: string;
  onExpiry?: string;
  snapshot?: string;
  template?: string;
  onDrain?: string;
  onNodeLost?: string;
  cluster?: string;
  wait: boolean;
}

export function registerSandboxCreate(parent: Command): void {
  addConnectionOptions(parent.command('create'))
    .description('Create a sandbox and wait until it is running')
    .argument('[image]', 'Image name or alias; see svc sandbox images')
    .option('--name <name>', 'Name (default: generated)')
    .option('--env <KEY=VALUE>', 'Set an environment variable; repeatable', collect)
    .option('--label <KEY=VALUE>', 'Add a label; repeatable', collect)
    .option('--cpu <cores>', 'CPU cores, such as 0.5')
    .option('--memory <MiB>', 'Memory in MiB, such as 512')
    .option('--disk <MiB>', 'Disk size in MiB, such as 2048')
    .option('--pids <count>', 'Maximum number of processes')
    .option('--gpus <count>', 'Number of GPUs')
    .option('--network <kind>', 'Network: egress or none')
    .option(
      '--allow <host>',
      'Allow egress only to this host or range, such as *.example.com or 192.0.2.0/24; repeatable',
      collect,
    )
    .option('--deny <range>', 'Allow egress everywhere except to this IPv4 range; repeatable', collect)
    .option('--rule <rule>', RULE_HELP, collect)
    .option('--volume <volume>', 'Mount a volume, such as data:/data or data:/data:ro; repeatable', collect)
    .option('--mount <bucket>', 'Mount a bucket, such as photos:/data or photos/2026:/data:ro; repeatable', collect)
    .option('--cluster <name>', 'Run in a connected cluster; see svc cluster ls')
    .option('--isolation <kind>', 'Isolation: default, namespaces, or gvisor')
    .option('--idle <time>', 'Stop after this long without activity, such as 15m')
    .option('--lifetime <time>', 'Expire after this long, such as 12h')
    .option('--on-expiry <action>', 'When it expires: delete, pause, or stop (default: delete)')
    .option('--snapshot <id>', 'Start from a snapshot instead of an image')
    .option('--template <name>', 'Start from a template, such as tools or tools:v2, instead of an image')
    .option(
      '--on-drain <choice>',
      'When its node is drained: stop (default), snapshot to also take a snapshot, or move to another node',
    )
    .option(
      '--on-node-lost <choice>',
      'When its node is lost: wait for it (default), or restore its last archived snapshot',
    )
    .option('--no-wait', 'Return immediately while the sandbox is being created')
    .action((image: string | undefined, flags: CreateFlags) =>
      withSandboxes(flags, async ({ sandboxes, output, signal }) => {
        const waitMs = flags.wait ? undefined : 0;
        const progress = new CreationProgress(process.stderr, () => performance.now());
        const onProgress = flags.wait ? progress.show : undefined;
        const made = sandboxes.create(readRequest(image, flags), { waitMs, onProgress, signal });
        const { info } = await made.finally(() => progress.end());
        output.answer(info, [
          `${printable(info.name)} (${info.id}) is ${info.status}`,
          ...(info.status === 'running' ? [`Run svc sandbox shell ${printable(info.name)} to open a shell`] : []),
        ]);
      }),
    );
}

function readRequest(image: string | undefined, flags: CreateFlags): NewSandbox {
  const { name, env, label, allow, deny } = flags;
  const resources = {
    ...(flags.cpu !== undefined && { cpu: readNumber(flags.cpu, '--cpu') }),
    ...(flags.memory !== undefined && { memory_mb: readNumber(flags.memory, '--memory') }),
    ...(flags.disk !== undefined && { disk_mb: readNumber(flags.disk, '--disk') }),
    ...(flags.pids !== undefined && { pids: readNumber(flags.pids, '--pids') }),
    ...(flags.gpus !== undefined && { gpus: readNumber(flags.gpus, '--gpus') }),
  };
  return {
    ...readSource(image, flags),
    ...(name !== undefined && { name }),
    ...(env !== undefined && { environment: readPairs(env, 'variable') }),
    ...(label !== undefined && { labels: readPairs(label, 'label') }),
    ...(Object.keys(resources).length > 0 && { resources }),
    ...(flags.network !== undefined && { network: readNetwork(flags.network) }),
    ...(allow !== undefined && { egress_allow: splitTargets(allow) }),
    ...(deny !== undefined && { egress_deny: splitTargets(deny) }),
    ...(flags.rule !== undefined && { egress_rules: flags.rule.map(readRule) }),
    ...(flags.volume !== undefined && { volumes: flags.volume.map(readVolume) }),
    ...(flags.mount !== undefined && { mounts: flags.mount.map(readMount) }),
    ...(flags.cluster !== undefined && { cluster: flags.cluster }),
    ...(flags.isolation !== undefined && { isolation: readIsolation(flags.isolation) }),
    ...(flags.idle !== undefined && { idle_timeout_seconds: readSeconds(flags.idle) }),
    ...(flags.lifetime !== undefined && { max_lifetime_seconds: readSeconds(flags.lifetime) }),
    ...(flags.onDrain !== undefined && { on_drain: readOnDrain(flags.onDrain) }),
    ...(flags.onNodeLost !== undefined && { on_node_lost: readOnNodeLost(flags.onNodeLost) }),
    ...(flags.onExpiry !== undefined && { on_expiry: readExpiryAction(flags.onExpiry) }),
  };
}

/** Reads `NAME:/path` and `NAME:/path:ro`. */
function readVolume(text: string): NonNullable<NewSandbox['volumes']>[number] {
  const [, name, path, mode] = /^([^:]+):(\/[^:]*)(?::(ro|rw))?$/.exec(text) ?? [];
  if (name === undefined || path === undefined) {
    throw usageFailure(`${JSON.stringify(text)} is not a volume and its path`, 'use NAME:/path or NAME:/path:ro');
  }
  return { name, path, ...(mode === 'ro' && { read_only: true }) };
}

/** Reads `BUCKET[/PREFIX]:/path` and `BUCKET[/PREFIX]:/path:ro`. */
function readMount(text: string): NonNullable<NewSandbox['mounts']>[number] {
  const [, bucket, prefix, path, mode] = /^([^:/]+)(?:\/([^:]*))?:(\/[^:]*)(?::(ro|rw))?$/.exec(text) ?? [];
  if (bucket === undefined || path === undefined) {
    const hint = 'use BUCKET:/path, BUCKET/PREFIX:/path or BUCKET:/path:ro';
    throw usageFailure(`${JSON.stringify(text)} is not a bucket and its path`, hint);
  }
  return { bucket, path, ...(prefix !== undefined && { prefix }), ...(mode === 'ro' && { read_only: true }) };
}

function readSource(
  image: string | undefined,
  { snapshot, template }: CreateFlags,
): Pick<NewSandbox, 'image' | 'snapshot_id' | 'template'> {
  const given = [image, snapshot, template].filter((each) => each !== undefined);
  if (given.length === 0) {
    throw usageFailure('an image, --template or --snapshot is required', 'svc sandbox images lists available images');
  }
  if (given.length > 1) {
    throw usageFailure('an image, --template and --snapshot cannot be combined', `omit ${JSON.stringify(given[0])}`);
  }
  if (image !== undefined) return { image };
  return template === undefined ? { snapshot_id: snapshot } : { template };
}

function readNumber(text: string, flag: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw usageFailure(`${flag} is not a number`);
  return value;
}

function readNetwork(text: string): 'none' | 'egress' {
  if (text === 'none' || text === 'egress') return text;
  throw usageFailure(`${JSON.stringify(text)} is not a network`, 'use egress or none');
}

function readOnDrain(text: string): 'stop' | 'snapshot' | 'move' {
  if (text === 'stop' || text === 'snapshot' || text === 'move') return text;
  throw usageFailure(`--on-drain ${JSON.stringify(text)} is unknown`, 'use stop, snapshot or move');
}

function readOnNodeLost(text: string): 'wait' | 'restore' {
  if (text === 'wait' || text === 'restore') return text;
  throw usageFailure(`--on-node-lost ${JSON.stringify(text)} is unknown`, 'use wait or restore');
}

function readExpiryAction(text: string): 'delete' | 'pause' | 'stop' {
  if (text === 'delete' || text === 'pause' || text === 'stop') return text;
  throw usageFailure(`${JSON.stringify(text)} is not an action`, 'use delete, pause, or stop');
}

function readIsolation(text: string): 'default' | 'namespaces' | 'gvisor' {
  if (text === 'default' || text === 'namespaces' || text === 'gvisor') return text;
  throw usageFailure(`${JSON.stringify(text)} is not an isolation`, 'use default, namespaces, or gvisor');
}
