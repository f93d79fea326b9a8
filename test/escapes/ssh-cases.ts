import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { openSsh, type OpenSsh, type SftpClient, type SshExecOptions } from '@svc/sandboxes/testing/open-ssh';
import { startPermissiveSsh } from '@svc/sandboxes/testing/permissive-ssh';
import { collectStream, type FakeCaller } from '@svc/testing';
import type { EscapeCase } from './escape-case.ts';
import type { Ground } from './ground.ts';
import type { Outcome } from './outcome.ts';
import { MARK, markedProcesses, marksProcess } from './marked-processes.ts';
import { METADATA_ADDRESS, OUTSIDE_PORT, PRIVATE_ADDRESSES, PUBLIC_ADDRESS, WORD } from './outside.ts';
import { withSecret } from './secret-file.ts';

const NEIGHBOR_PORT = 9000;
const ANSWER_LIMIT_MS = 3_000;
/** Time within which a lost right ends a connection, and some more. */
const RIGHT_LIMIT_MS = 4_000;
/** Other names of this host's loopback, and names that a parser could take for it. */
const LOOPBACKS = [
  '127.0.0.1 localhost ::1 127.0.0.2 127.1 0 0.0.0.0 :: ::ffff:127.0.0.1 2130706433 0x7f000001'.split(' '),
  ['localhost.', 'LOCALHOST', 'ip6-localhost', '[::1]', '127.0.0.1 ', '127.0.0.1\u0000.example'],
].flat();
const SUBSYSTEMS = [
  '/bin/sh',
  '../../../bin/sh',
  'internal-sftp',
  'netconf',
  'sftp;id',
  'SFTP',
  'sftp\u0000',
  '',
  'sh',
];

/** A client of a sandbox that uses the platform's SSH server against the platform, its host and others. */
export function sshCases(): EscapeCase[] {
  return [
    {
      title: "reaches this host's loopback through a port that SSH forwards",
      attempt: (ground) => withLogin(ground, (ssh) => anyForward(ssh, LOOPBACKS, ground.outside.platformPort)),
      control: ({ outside }) => permitted((ssh) => anyForward(ssh, ['127.0.0.1'], outside.platformPort)),
    },
    {
      title: 'reaches metadata, private and public addresses through a port that SSH forwards',
      attempt: (ground) =>
        withLogin(ground, (ssh) =>
          anyForward(ssh, [METADATA_ADDRESS, ...PRIVATE_ADDRESSES, PUBLIC_ADDRESS], OUTSIDE_PORT),
        ),
      control: () => permitted((ssh) => anyForward(ssh, [METADATA_ADDRESS], OUTSIDE_PORT)),
    },
    {
      title: "reaches the platform's port on the addresses of this host through a port that SSH forwards",
      attempt: (ground) =>
        withLogin(ground, (ssh) => anyForward(ssh, ground.outside.hostAddresses, ground.outside.platformPort)),
      control: ({ outside }) => permitted((ssh) => anyForward(ssh, outside.hostAddresses, outside.platformPort)),
    },
    {
      title: 'reaches another sandbox through a port that SSH forwards',
      attempt: async (ground) => {
        const address = await neighborAddress(ground);
        return withLogin(ground, (ssh) => anyForward(ssh, [address], NEIGHBOR_PORT));
      },
      control: async (ground) => {
        await neighborAddress(ground);
        return withLogin(ground, (ssh) => anyForward(ssh, ['127.0.0.1'], NEIGHBOR_PORT), 'neighbor');
      },
    },
    {
      title: 'reaches a Unix socket of this host through SSH',
      attempt: (ground) => withHostSocket((path) => withLogin(ground, (ssh) => says(ssh.forwardSocket(path)))),
      control: () => withHostSocket((path) => permitted((ssh) => says(ssh.forwardSocket(path)))),
    },
    {
      title: 'listens on a port or a Unix socket of this host through SSH',
      attempt: (ground) => withLogin(ground, listens),
      control: () => permitted(listens),
    },
    {
      title: "gets its client's SSH agent or display",
      attempt: (ground) => withLogin(ground, (ssh) => accepts([ssh.exec('true', AGENT), ssh.exec('true', DISPLAY)])),
      control: () => permitted((ssh) => accepts([ssh.exec('true', AGENT), ssh.exec('true', DISPLAY)])),
    },
    {
      title: 'runs a program of this host by the name of an SSH subsystem',
      attempt: (ground) => withLogin(ground, (ssh) => accepts(SUBSYSTEMS.map((name) => ssh.subsystem(name)))),
      control: () => permitted((ssh) => accepts(SUBSYSTEMS.map((name) => ssh.subsystem(name)))),
    },
    {
      title: 'sets variables of the platform or of programs of this host through SSH',
      attempt: (ground) => withLogin(ground, setsVariables),
      control: marksProcess,
    },
    {
      title: 'is entered through SSH by a user of another workspace, whatever the user name',
      attempt: async (ground) => entersAs(ground, (await ground.platform()).platform.access.user('stranger')),
      control: async (ground) => entersAs(ground, (await ground.platform()).platform.owner),
    },
    {
      title: 'keeps an SSH connection after its token was revoked',
      attempt: (ground) => usesAfter(ground, (caller) => revoke(ground, caller)),
      control: (ground) => usesAfter(ground, async () => undefined),
    },
    {
      title: 'reads files of this host by SFTP',
      attempt: (ground) =>
        withSecret((path, secret) => withLogin(ground, (ssh) => readsBySftp(ground, ssh, path, secret))),
      control: ({ host }) => withSecret((path, secret) => host('content', `/proc/self/root/..${path}`, secret)),
    },
    {
      title: 'changes the kernel or the helper by SFTP',
      attempt: (ground) =>
        withLogin(ground, (ssh) =>
          writesBySftp(ssh, ['/proc/sys/kernel/core_pattern', '/.sandbox/agent', '/proc/1/mem']),
        ),
      control: (ground) => withLogin(ground, (ssh) => writesBySftp(ssh, ['/root/own'])),
    },
  ];
}

const AGENT: SshExecOptions = { agentForward: true };
const DISPLAY: SshExecOptions = { x11: true };

/** Runs the work over a connection to a sandbox, as the owner of its workspace. */
async function withLogin(
  ground: Ground,
  work: (ssh: OpenSsh) => Promise<Outcome>,
  name = 'ssh',
  caller?: FakeCaller,
): Promise<Outcome> {
  const { platform, sandbox } = await ground.platform();
  const { id } = await sandbox(name, { network: 'egress' });
  const port = platform.sshPort ?? 0;
  const ssh = await openSsh({ port, username: id, password: (caller ?? platform.owner).token });
  try {
    return await work(ssh);
  } finally {
    ssh.close();
  }
}

/** Runs the same work over a connection to a server that grants everything. */
async function permitted(work: (ssh: OpenSsh) => Promise<Outcome>): Promise<Outcome> {
  const server = await startPermissiveSsh();
  const ssh = await openSsh({ port: server.port, username: 'anybody', password: 'anything' });
  try {
    return await work(ssh);
  } finally {
    ssh.close();
    await server.close();
  }
}

async function anyForward(ssh: OpenSsh, hosts: readonly string[], port: number): Promise<Outcome> {
  const refusals: string[] = [];
  for (const host of hosts) {
    const { done, detail } = await says(ssh.forward(port, host));
    if (done) return { done, detail: JSON.stringify(host) };
    refusals.push(`${JSON.stringify(host)} ${detail}`);
  }
  return { done: false, detail: refusals.join('; ') };
}

/** Whether the word comes over a channel. */
async function says(opening: Promise<Duplex>): Promise<Outcome> {
  let channel: Duplex;
  try {
    channel = await opening;
  } catch (error) {
    return { done: false, detail: String(error) };
  }
  channel.on('error', () => undefined);
  const ended = AbortSignal.timeout(ANSWER_LIMIT_MS);
  const text = await Promise.race([
    collectStream(channel).then((bytes) => bytes.toString()),
    once(ended, 'abort').then(() => 'nothing'),
  ]);
  channel.destroy();
  return { done: text.includes(WORD), detail: text };
}

/** Done if any of the requests is granted. */
async function accepts(requests: readonly Promise<unknown>[]): Promise<Outcome> {
  const results = await Promise.allSettled(requests);
  const granted = results.filter(({ status }) => status === 'fulfilled').length;
  return { done: granted > 0, detail: `${granted} of ${results.length}` };
}

function listens(ssh: OpenSsh): Promise<Outcome> {
  const ports = ['127.0.0.1', '0.0.0.0', '', '::1', 'localhost'].map((host) => ssh.listen({ host, port: 0 }));
  return accepts([...ports, ssh.listen(join(tmpdir(), `svc-escape-${process.pid}.sock`))]);
}

async function withHostSocket(work: (path: string) => Promise<Outcome>): Promise<Outcome> {
  const path = join(tmpdir(), `svc-escape-host-${process.pid}.sock`);
  const server = createServer((socket) => socket.on('error', () => undefined).end(WORD));
  await once(server.listen(path), 'listening');
  try {
    return await work(path);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

/** A neighbor that says the word to everybody, and its address. */
async function neighborAddress(ground: Ground): Promise<string> {
  const neighbor = await (await ground.platform()).sandbox('neighbor', { network: 'egress' });
  await neighbor.shell(
    `test -e /tmp/serves || (touch /tmp/serves; while :; do echo ${WORD} | nc -l -p ${NEIGHBOR_PORT}; done) >/dev/null 2>&1 &
     sleep 0.3`,
  );
  const { output } = await neighbor.shell('ip -4 addr show eth0');
  const address = /inet ([0-9.]+)/.exec(output)?.[1];
  if (address === undefined) throw new Error(`the neighbor has no address: ${output}`);
  return address;
}

async function setsVariables(ssh: OpenSsh): Promise<Outcome> {
  const env = { [MARK]: 'set', LD_PRELOAD: '/evil.so', NODE_OPTIONS: '--require=/evil', 'A=B': 'x', '': 'x' };
  const channel = await ssh.exec(`echo $${MARK}; sleep 60`, { env });
  const [first] = (await once(channel, 'data')) as [Buffer];
  if (first.toString() !== 'set\n') throw new Error(`the program in the sandbox has no variable: ${first.toString()}`);
  const outcome = await markedProcesses();
  channel.destroy();
  return outcome;
}

async function entersAs(ground: Ground, caller: FakeCaller): Promise<Outcome> {
  const { platform, sandbox } = await ground.platform();
  const { id } = await sandbox('ssh', { network: 'egress' });
  const team = caller.workspaceUuid;
  const names = [
    id,
    `${id}+${team}`,
    `${id}+${platform.owner.workspaceUuid}`,
    `${id}\n`,
    ` ${id}`,
    `../${id}`,
    '',
    'root',
  ];
  for (const [index, username] of names.entries()) {
    const credentials = { port: platform.sshPort ?? 0, username, password: caller.token };
    // Failed logins slow down the address, so each has its own.
    const ssh = await openSsh({ ...credentials, localAddress: `127.0.7.${index + 1}` }).catch(() => null);
    if (ssh === null) continue;
    const channel = await ssh.exec('echo entered').catch(() => null);
    const text = channel === null ? '' : (await collectStream(channel)).toString();
    ssh.close();
    if (text === 'entered\n') return { done: true, detail: JSON.stringify(username) };
  }
  return { done: false, detail: `${names.length} user names` };
}

async function revoke(ground: Ground, caller: FakeCaller): Promise<void> {
  (await ground.platform()).platform.access.revoke(caller);
}

/** Whether commands, including one started earlier, still run a while after this happened to the caller. */
async function usesAfter(ground: Ground, happens: (caller: FakeCaller) => Promise<void>): Promise<Outcome> {
  const { platform } = await ground.platform();
  const caller = platform.access.serviceAccount(platform.owner.workspaceUuid, ['write']);
  const work = async (ssh: OpenSsh): Promise<Outcome> => {
    const open = await ssh.exec('cat');
    open.on('error', () => undefined);
    await happens(caller);
    await setTimeout(RIGHT_LIMIT_MS);
    open.end(WORD);
    const opened = await says(Promise.resolve(open));
    return opened.done ? opened : says(ssh.exec(`echo ${WORD}`));
  };
  return withLogin(ground, work, 'ssh', caller);
}

async function readsBySftp(ground: Ground, ssh: OpenSsh, path: string, secret: string): Promise<Outcome> {
  const { shell } = await (await ground.platform()).sandbox('ssh', { network: 'egress' });
  await shell(`ln -sf ${path} /tmp/link; ln -sf /proc/1/root${path} /tmp/other; ln -sfn / /tmp/root`);
  const sftp = await ssh.sftp();
  const ways = ['', '/proc/1/root', '/proc/1/cwd', '/proc/self/root', '/proc/self/cwd', '/tmp/root'];
  const descriptors = Array.from({ length: 16 }, (_, number) => `/proc/self/fd/${number}`);
  const roots = [...ways, ...descriptors].flatMap((way) => ['', '/..', '/../../../../..'].map((up) => `${way}${up}`));
  const paths = [...roots.map((root) => `${root}${path}`), `../../../..${path}`, '/tmp/link', '/tmp/other'];
  for (const each of paths) {
    const content = await new Promise<Buffer | null>((resolve) => {
      sftp.readFile(each, (error, bytes) => resolve(error === undefined ? bytes : null));
    });
    if (content?.includes(secret) === true) return { done: true, detail: each };
  }
  return { done: false, detail: `${paths.length} paths` };
}

async function writesBySftp(ssh: OpenSsh, paths: readonly string[]): Promise<Outcome> {
  const sftp: SftpClient = await ssh.sftp();
  const failures: string[] = [];
  const isDone = async (start: (done: (error: Error | null | undefined) => void) => void): Promise<boolean> => {
    const error = await new Promise<Error | null | undefined>((resolve) => start(resolve));
    if (error !== null && error !== undefined) failures.push(error.message);
    return error === null || error === undefined;
  };
  await isDone((done) => sftp.writeFile('/root/other', 'x', done));
  for (const path of paths) {
    if (await isDone((done) => sftp.writeFile(path, 'x', done))) return { done: true, detail: path };
    if (await isDone((done) => sftp.ext_openssh_rename('/root/other', path, done))) return { done: true, detail: path };
  }
  return { done: false, detail: failures.join('; ') };
}
