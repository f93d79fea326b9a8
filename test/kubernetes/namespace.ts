import { randomInt } from 'node:crypto';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand, untilReady } from './commands.ts';
import { startDaemon, type Daemon } from './daemon.ts';

/**
 * First process of the namespaces. Container tools write to fixed system folders, so it covers them with in-memory
 * layers that disappear with the namespace. It then waits until its input closes; when it ends, all processes
 * inside end with it, along with their mounts, interfaces and firewall rules.
 */
const FIRST_PROCESS = `set -e
mount -t tmpfs tmpfs /run && mkdir -p /run/netns /run/lock
mount -t tmpfs tmpfs /var/log
for folder in /var/lib /usr/libexec; do
  scratch=/run/scratch$folder
  mkdir -p "$scratch/upper" "$scratch/work"
  mount -t overlay overlay -o "lowerdir=$folder,upperdir=$scratch/upper,workdir=$scratch/work" "$folder"
done
mount --make-rshared /
ip link set lo up
echo ready
exec 3<&0
cat <&3 >/dev/null &
wait $!`;

/** An isolated environment for one node: nothing in it touches the machine's network, mounts or process list. */
export interface NodeNamespace {
  /** Address of the machine, from inside. */
  readonly hostAddress: string;
  /** Address of the inside, from the machine. */
  readonly nodeAddress: string;
  /** Path below every cgroup hierarchy for the processes inside. */
  readonly cgroup: string;
  /** Host pid of the first process inside, for entering its namespaces. */
  readonly firstProcess: number;
  start(folder: string, name: string, program: string, args: readonly string[]): Daemon;
  run(program: string, args: readonly string[], input?: string): Promise<string>;
  /** Kills everything inside and removes its cgroups. */
  destroy(): Promise<void>;
}

export async function createNamespace(): Promise<NodeNamespace> {
  const child = spawn(
    'unshare',
    [
      '--net',
      '--mount',
      '--pid',
      '--ipc',
      '--uts',
      '--fork',
      '--mount-proc',
      '--kill-child',
      '/bin/sh',
      '-c',
      FIRST_PROCESS,
    ],
    { stdio: ['pipe', 'pipe', 'pipe'], detached: true },
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.stdin.on('error', () => undefined); // closed with the namespace
  await firstLine(child.stdout, child.stderr);
  const pid = await firstChildOf(child.pid ?? 0);
  const enter = ['--target', String(pid), '--net', '--mount', '--pid', '--ipc', '--uts', '--'];
  const link = await connect(pid);
  const cgroup = `/svc-test-${link.name}`;
  await makeCgroups(cgroup);
  return {
    hostAddress: link.hostAddress,
    nodeAddress: link.nodeAddress,
    cgroup,
    firstProcess: pid,
    start: (folder, name, program, args) => startDaemon(folder, name, 'nsenter', [...enter, program, ...args]),
    run: async (program, args, input = '') =>
      (await runCommand('nsenter', [...enter, program, ...args], { input, encoding: 'utf8' })).stdout,
    destroy: async () => {
      child.stdin.destroy();
      await ended;
      await untilReady('the end of the namespace', 30_000, () => removeCgroups(cgroup));
    },
  };
}

async function firstLine(output: NodeJS.ReadableStream, errors: NodeJS.ReadableStream): Promise<void> {
  const said: string[] = [];
  errors.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  for await (const chunk of output) if (String(chunk).includes('ready')) return;
  throw new Error(`no namespace could be made: ${said.join('').trim()}`);
}

async function firstChildOf(pid: number): Promise<number> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const first = Number(children.trim().split(' ')[0]);
  if (!Number.isInteger(first) || first <= 0) throw new Error('the first process of the namespace is gone');
  return first;
}

/** A pair of interfaces with two link-local addresses: the only connection to the outside. */
async function connect(pid: number): Promise<{ name: string; hostAddress: string; nodeAddress: string }> {
  const name = `svck${randomInt(0x1000000).toString(16).padStart(6, '0')}`;
  const [hostAddress, nodeAddress] = await freePair();
  await runCommand('ip', ['link', 'add', `${name}h`, 'type', 'veth', 'peer', 'name', `${name}n`, 'netns', String(pid)]);
  await runCommand('ip', ['addr', 'add', `${hostAddress}/30`, 'dev', `${name}h`]);
  await runCommand('ip', ['link', 'set', `${name}h`, 'up']);
  const inside = ['--target', String(pid), '--net', '--', 'ip'];
  await runCommand('nsenter', [...inside, 'addr', 'add', `${nodeAddress}/30`, 'dev', `${name}n`]);
  await runCommand('nsenter', [...inside, 'link', 'set', `${name}n`, 'up']);
  return { name, hostAddress, nodeAddress };
}

async function freePair(): Promise<[host: string, node: string]> {
  const { stdout } = await runCommand('ip', ['-4', '-o', 'addr']);
  for (;;) {
    const prefix = `169.254.${randomInt(1, 255)}.${randomInt(64) * 4}`.split('.');
    const base = Number(prefix.pop());
    const addressOf = (offset: number): string => [...prefix, base + offset].join('.');
    if (!stdout.includes(`${addressOf(1)}/`)) return [addressOf(1), addressOf(2)];
  }
}

/** The roots of the cgroup hierarchies: one folder per controller (version 1), or one for all (version 2). */
async function hierarchies(): Promise<string[]> {
  if (existsSync('/sys/fs/cgroup/cgroup.controllers')) return ['/sys/fs/cgroup'];
  const entries = await readdir('/sys/fs/cgroup', { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join('/sys/fs/cgroup', entry.name));
}

async function makeCgroups(cgroup: string): Promise<void> {
  for (const root of await hierarchies()) await mkdir(join(root, cgroup), { recursive: true });
}

async function removeCgroups(cgroup: string): Promise<void> {
  for (const root of await hierarchies()) await removeTree(join(root, cgroup));
}

/** Only folders can be removed in a cgroup hierarchy, deepest first; their files disappear with them. */
async function removeTree(folder: string): Promise<void> {
  if (!existsSync(folder)) return;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeTree(join(folder, entry.name));
  }
  await rmdir(folder);
}
