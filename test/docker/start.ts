import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from '@svc/testing';
import { runCommand } from '../kubernetes/commands.ts';
import { assertRunning, startDaemon } from '../kubernetes/daemon.ts';
import { ensurePrograms } from '../kubernetes/system-packages.ts';

export interface Docker {
  /** Path of the Engine API's Unix socket. */
  socket: string;
  /** Creates an image from a folder, like `docker import`. */
  importImage(name: string, rootFolder: string): Promise<void>;
  /** Makes btrfs recount the disk usage of each container. */
  recount(): Promise<void>;
  stop(): Promise<void>;
}

const READY_MS = 60_000;
const BRIDGE = 'svcdocker0';
/** Sparse: unwritten blocks use no space. */
const BTRFS_SIZE = '4G';

export interface DockerOptions {
  /** `btrfs` (a file system in a file) can limit a container's disk; `overlay2` is the most common. */
  readonly storage?: 'overlay2' | 'btrfs';
  /** Additional OCI runtimes: name -> program. */
  readonly runtimes?: Readonly<Record<string, string>>;
}

/** Starts an engine; one at a time per machine, since the bridge's name is fixed. */
export async function startDocker({ storage = 'overlay2', runtimes = {} }: DockerOptions = {}): Promise<Docker> {
  await ensurePrograms('Docker Engine', ['dockerd', 'iptables', 'ip', 'mkfs.btrfs']);
  const folder = await mkdtemp(join(tmpdir(), 'svc-docker-'));
  const socket = join(folder, 'docker.sock');
  await mkdir(join(folder, 'state'));
  await mkdir(join(folder, 'data'));
  if (storage === 'btrfs') await mountBtrfs(join(folder, 'btrfs.img'), join(folder, 'data'));
  await writeFile(join(folder, 'daemon.json'), '{}\n'); // ignore the machine's own /etc/docker/daemon.json
  await runCommand('ip', ['link', 'add', BRIDGE, 'type', 'bridge']);
  await runCommand('ip', ['address', 'add', '172.31.255.1/24', 'dev', BRIDGE]);
  const daemon = startDaemon(folder, 'dockerd', 'dockerd', [
    `--config-file=${join(folder, 'daemon.json')}`,
    `--data-root=${join(folder, 'data')}`,
    `--exec-root=${join(folder, 'state')}`,
    `--pidfile=${join(folder, 'dockerd.pid')}`,
    `--host=unix://${socket}`,
    `--bridge=${BRIDGE}`,
    `--storage-driver=${storage}`,
    ...Object.entries(runtimes).map(([name, program]) => `--add-runtime=${name}=${program}`),
    '--iptables=false',
    '--ip-masq=false',
  ]);
  const stop = async (): Promise<void> => {
    await daemon.stop(20_000);
    await unmountBelow(folder);
    await runCommand('ip', ['link', 'del', BRIDGE]).catch(() => undefined); // absent if the start failed early
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await waitFor(
      async () => {
        await assertRunning(daemon);
        return docker(socket, 'version').then(
          () => true,
          () => false,
        );
      },
      { timeoutMs: READY_MS, description: 'the Docker Engine' },
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    socket,
    importImage: (name, rootFolder) => importImage(socket, name, rootFolder),
    recount: async () => void (await runCommand('btrfs', ['quota', 'rescan', '-w', join(folder, 'data')])),
    stop,
  };
}

async function mountBtrfs(file: string, point: string): Promise<void> {
  await runCommand('truncate', ['-s', BTRFS_SIZE, file]);
  await runCommand('mkfs.btrfs', ['-q', file]);
  await runCommand('mount', ['-o', 'loop', file, point]);
}

function docker(socket: string, ...args: string[]): Promise<unknown> {
  return runCommand('docker', ['-H', `unix://${socket}`, ...args]);
}

async function importImage(socket: string, name: string, rootFolder: string): Promise<void> {
  const archive = `${rootFolder}.import.tar`;
  try {
    await runCommand('tar', ['-C', rootFolder, '--numeric-owner', '-cf', archive, '.']);
    await docker(socket, 'import', archive, name);
  } finally {
    await rm(archive, { force: true });
  }
}

/** Unmounts what running containers leave behind if the daemon is killed. */
async function unmountBelow(folder: string): Promise<void> {
  const mounts = await readFile('/proc/self/mounts', 'utf8');
  const points = mounts.split('\n').map((line) => line.split(' ')[1] ?? '');
  for (const point of points.filter((each) => each.startsWith(`${folder}/`)).toReversed()) {
    await runCommand('umount', ['-l', point]).catch(() => undefined); // already unmounted with its parent
  }
}
