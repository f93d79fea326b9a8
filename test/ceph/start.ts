import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, waitFor } from '@svc/testing';
import { runCommand } from '../kubernetes/commands.ts';
import { assertRunning, startDaemon, type Daemon } from '../kubernetes/daemon.ts';
import { cephConfiguration } from './configuration.ts';
import { ensurePrograms } from '../kubernetes/system-packages.ts';

export interface Ceph {
  /** `http://127.0.0.1:PORT` of the gateway. */
  endpoint: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Stops only the gateway, or starts it again, for tests of an unavailable engine. */
  stopGateway(): Promise<void>;
  startGateway(): Promise<void>;
  stop(): Promise<void>;
}

const READY_MS = 120_000;

export async function startCeph(): Promise<Ceph> {
  await ensurePrograms('Ceph', ['ceph-mon', 'ceph-osd', 'ceph', 'radosgw']);
  const folder = await mkdtemp(join(tmpdir(), 'svc-ceph-'));
  const daemons = new Map<string, Daemon>();
  const stop = async (): Promise<void> => {
    for (const daemon of [...daemons.values()].toReversed()) await daemon.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    return await bringUp(folder, daemons, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function bringUp(folder: string, daemons: Map<string, Daemon>, stop: () => Promise<void>): Promise<Ceph> {
  const clusterId = randomUUID();
  const gatewayPort = await freePort();
  const ports = { monitor: await freePort(), gateway: gatewayPort, storageFirst: await freeRange() };
  for (const name of ['mon', 'osd', 'rgw', 'log', 'crash']) await mkdir(join(folder, name));
  const config = join(folder, 'ceph.conf');
  await writeFile(config, cephConfiguration(folder, clusterId, ports));
  const run = (program: string, ...args: string[]) => runCommand(program, ['-c', config, ...args]);
  const start = (name: string, program: string, ...args: string[]): Daemon => {
    const daemon = startDaemon(folder, name, program, ['-f', '-c', config, ...args]);
    daemons.set(name, daemon);
    return daemon;
  };

  await makeKeyring(folder);
  const map = join(folder, 'monmap');
  await runCommand('monmaptool', [
    '--create',
    '--fsid',
    clusterId,
    '--addv',
    'a',
    `[v2:127.0.0.1:${ports.monitor}]`,
    map,
  ]);
  await run('ceph-mon', '--mkfs', '-i', 'a', '--monmap', map, '--keyring', join(folder, 'keyring'));
  const monitor = start('mon', 'ceph-mon', '-i', 'a');
  await until(monitor, 'a quorum', () => run('ceph', '--connect-timeout', '5', 'quorum_status'));

  const storageId = randomUUID();
  await run('ceph', 'osd', 'new', storageId, '0');
  await run('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', storageId);
  const storage = start('osd', 'ceph-osd', '-i', '0');
  await until(storage, 'the storage daemon', async () => {
    const { stdout } = await run('ceph', 'osd', 'stat', '-f', 'json');
    if (!stdout.includes('"num_up_osds":1')) throw new Error('not up');
  });

  const endpoint = `http://127.0.0.1:${gatewayPort}`;
  const startGateway = async (): Promise<void> => {
    const gateway = start('rgw', 'radosgw', '-n', 'client.rgw');
    await until(gateway, 'the gateway', async () => {
      const response = await fetch(endpoint, { signal: AbortSignal.timeout(2000) });
      if (!response.ok) throw new Error(`status ${response.status}`);
    });
  };
  await startGateway();
  const accessKeyId = randomBytes(10).toString('hex');
  const secretAccessKey = randomBytes(20).toString('hex');
  const user = ['user', 'create', '--uid', 'svc', '--display-name', 'svc', '--access-key', accessKeyId];
  await run('radosgw-admin', ...user, '--secret-key', secretAccessKey);
  const stopGateway = async (): Promise<void> => daemons.get('rgw')?.stop();
  return { endpoint, accessKeyId, secretAccessKey, stopGateway, startGateway, stop };
}

/** One key ring for all daemons; the monitor imports its users when it creates its store. */
async function makeKeyring(folder: string): Promise<void> {
  const file = join(folder, 'keyring');
  const users: [string, ...string[]][] = [
    ['mon.', 'mon', 'allow *'],
    ['client.admin', 'mon', 'allow *', 'osd', 'allow *', 'mgr', 'allow *'],
    ['osd.0', 'mon', 'allow profile osd', 'osd', 'allow *'],
    ['client.rgw', 'mon', 'allow rw', 'osd', 'allow rwx'],
  ];
  for (const [index, [name, ...grants]] of users.entries()) {
    const capabilities: string[] = [];
    for (let at = 0; at < grants.length; at += 2) capabilities.push('--cap', grants[at] ?? '', grants[at + 1] ?? '');
    await runCommand('ceph-authtool', [
      ...(index === 0 ? ['--create-keyring'] : []),
      file,
      '--gen-key',
      '-n',
      name,
      ...capabilities,
    ]);
  }
}

async function until(daemon: Daemon, what: string, attempt: () => Promise<unknown>): Promise<void> {
  await waitFor(
    async () => {
      await assertRunning(daemon);
      return attempt().then(
        () => true,
        () => false,
      );
    },
    { timeoutMs: READY_MS, description: `${what} of Ceph` },
  );
}

/** Forty consecutive ports for the storage daemon, which picks free ones. */
async function freeRange(): Promise<number> {
  return Math.min(await freePort(), 65_000);
}
