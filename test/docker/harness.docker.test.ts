import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describeRequiring } from '@svc/testing';
import { expect, it } from 'vitest';
import { makeBusyboxRoot } from '../kubernetes/images.ts';
import { descendants, mountsContaining } from '../system/process-facts.ts';
import { startDocker } from './start.ts';

const IMAGE = 'svc-busybox:test';
const BRIDGE = '/sys/class/net/svcdocker0';

describeRequiring(
  ['linux', 'root', 'command:dockerd', 'command:docker', 'command:iptables', 'command:ip', 'command:busybox'],
  'a separate Docker Engine',
  () => {
    it('runs a command of an imported image without a network and leaves nothing behind', async () => {
      const before = [...descendants(process.pid).keys()];
      const docker = await startDocker();
      const folder = dirname(docker.socket);
      try {
        const root = await makeBusyboxRoot();
        try {
          await docker.importImage(IMAGE, root);
        } finally {
          await rm(root, { recursive: true, force: true });
        }
        const script = 'echo said; echo complained >&2; ls /sys/class/net; exit 7';
        const outcome = await run(docker.socket, 'run', '--rm', '--network', 'none', IMAGE, '/bin/sh', '-c', script);
        expect(outcome).toEqual({ exitCode: 7, stdout: 'said\nlo\n', stderr: 'complained\n' });
        // Also covers a container that is running when the engine stops.
        await run(docker.socket, 'run', '--detach', '--network', 'none', IMAGE, '/bin/sleep', '3600');
        expect(mountsContaining(folder)).not.toEqual([]);
        expect(existsSync(BRIDGE)).toBe(true);
      } finally {
        await docker.stop();
      }
      expect([...descendants(process.pid).keys()].filter((pid) => !before.includes(pid))).toEqual([]);
      expect(processesNaming(folder)).toEqual([]);
      expect(mountsContaining(folder)).toEqual([]);
      expect(existsSync(BRIDGE)).toBe(false);
      expect(existsSync(folder)).toBe(false);
    });
  },
);

/** A container's shim is a child of the machine's init process; find it by the engine's folder in its arguments. */
function processesNaming(folder: string): string[] {
  return [...descendants(0).values()].filter((line) => line.includes(folder));
}

interface Outcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(socket: string, ...args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile('docker', ['-H', `unix://${socket}`, ...args], (_error, stdout, stderr) => {
      resolve({ exitCode: child.exitCode ?? -1, stdout, stderr });
    });
  });
}
