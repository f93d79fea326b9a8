import { spawn } from 'node:child_process';
import { chmod, copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { HelperConnection } from '@svc/sandboxes/testing/helper-connection';
import { helperBinaries } from '@svc/sandboxes/testing/local-subject';
import { sandboxPod } from '@svc/sandboxes/testing/pod-request';
import { runInSandbox } from '@svc/sandboxes/testing/run-in-sandbox';
import { sampleSpec } from '@svc/sandboxes/testing/sample-spec';
import { describeRequiring, findCommand, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand } from '../kubernetes/commands.ts';
import { ensureGvisor } from './binaries.ts';

const ID = `svc-pod-limits-${process.pid}`;
const NAMESPACES = ['pid', 'mount', 'ipc', 'uts', 'network'].map((type) => ({ type }));

/** The parts of a pod that a container runtime gets from a kubelet. */
interface Container {
  readonly command: readonly string[];
  readonly securityContext?: { readonly capabilities: { readonly add?: readonly string[] } };
}

/** As a cluster does whose RuntimeClass is gVisor; the kernel inside differs from Linux in what it tells of a process. */
describeRequiring(['linux', 'root', 'go', 'command:busybox'], 'the container of a pod in gVisor', () => {
  let folder: TemporaryFolder;
  let runsc: (...args: readonly string[]) => readonly string[];

  beforeAll(async () => {
    folder = await temporaryFolder();
    const { program } = await ensureGvisor();
    const flags = ['--platform=systrap', '--network=none', '--ignore-cgroups', '--overlay2=none'];
    runsc = (...args) => [program, '--root', join(folder.path, 'state'), ...flags, ...args];
    const root = join(folder.path, 'rootfs');
    for (const name of ['.sandbox', 'bin', 'proc', 'root']) await mkdir(join(root, name), { recursive: true });
    await copyFile(findCommand('busybox') ?? '', join(root, 'bin/busybox'));
    await symlink('busybox', join(root, 'bin/sh'));
    const { file } = await helperBinaries(process.arch, AbortSignal.timeout(300_000));
    const pod = sandboxPod(sampleSpec('gvisor'), {
      owner: 'gvisor',
      namespace: 'sandboxes',
      image: 'busybox',
      helperImage: 'helper',
      pullSecret: null,
      imageSecret: null,
      runtimeClass: null,
      userNamespace: false,
      nameservers: [],
      gpuResource: null,
      state: 'stopped',
      diskFolders: null,
    });
    const { initContainers, containers } = pod['spec'] as Record<string, Container[]>; // what `sandboxPod` returns
    const limits = initContainers?.[0]?.command.at(-1) ?? '';
    await runCommand(file, ['install', join(root, '.sandbox/agent'), limits]);
    await chmod(join(root, '.sandbox/agent'), 0o555);
    const capabilities = (containers?.[0]?.securityContext?.capabilities.add ?? []).map((name) => `CAP_${name}`);
    const config = {
      ociVersion: '1.0.2',
      process: {
        user: { uid: 0, gid: 0 },
        args: containers?.[0]?.command,
        cwd: '/',
        env: ['PATH=/bin'],
        noNewPrivileges: true,
        capabilities: { bounding: capabilities, effective: capabilities, permitted: capabilities },
      },
      root: { path: 'rootfs' },
      mounts: [{ destination: '/proc', type: 'proc', source: 'proc' }],
      linux: { namespaces: NAMESPACES },
    };
    await writeFile(join(folder.path, 'config.json'), JSON.stringify(config));
    await runDetached(runsc('run', '--detach', '--bundle', folder.path, ID));
  });
  afterAll(async () => {
    await runDetached(runsc('delete', '-force', ID));
    await folder.remove();
  });

  it('has the limits of other pods, and serves', async () => {
    const [program = '', ...args] = runsc('exec', ID, '/.sandbox/agent', 'bridge');
    const bridge = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    const stream = Duplex.from({ readable: bridge.stdout, writable: bridge.stdin });
    const connection = await HelperConnection.over(stream, AbortSignal.timeout(60_000));
    const { stdout } = await runInSandbox(connection, [
      '/bin/busybox',
      'grep',
      '-E',
      'Cap|Seccomp',
      '/proc/self/status',
    ]);
    await connection.close();
    expect(stdout).toMatch(/^CapBnd:\t00000000a00405fb$/m);
    expect(stdout).toMatch(/^CapEff:\t00000000a00405fb$/m);
    expect(stdout).toMatch(/^Seccomp:\t2$/m);
  });
});

/** Pipes would stay open as long as the sandbox runs. */
function runDetached([program = '', ...args]: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: 'ignore' });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${args.at(-1)}: exit code ${code}`));
    });
  });
}
