import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { skippedTitle, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HelperConnection } from '../../src/domain/helper/helper-connection.ts';
import type { SandboxSpec } from '../../src/domain/driver.ts';
import { localDriverReason, localSubject, type LocalSubject } from '../support/local-subject.ts';
import { runInSandbox } from '../support/run-in-sandbox.ts';
import { sampleSpec } from '../support/sample-spec.ts';

const reason = localDriverReason();
const title = 'the walls of a local sandbox';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let subject: LocalSubject;
  const connections = new Map<string, HelperConnection>();
  const start = async (spec: SandboxSpec): Promise<HelperConnection> => {
    const signal = AbortSignal.timeout(60_000);
    await subject.driver.create(spec, signal);
    await subject.driver.start(spec, signal);
    const connection = await subject.driver.connect(spec.id, signal);
    connections.set(spec.id, connection);
    return connection;
  };
  const shell = (name: string, script: string) => {
    const connection = connections.get(`sbx_${name}`);
    if (connection === undefined) throw new Error(`no sandbox ${name}`);
    return runInSandbox(connection, ['sh', '-c', script]);
  };

  beforeAll(async () => {
    subject = await localSubject();
    await subject.driver.open();
    await start(sampleSpec('one', { network: 'egress' }));
    await start(sampleSpec('two', { network: 'egress' }));
    await start(sampleSpec('quiet', { network: 'none' }));
  });
  afterAll(() => subject.dispose());

  it('is root only within its own id range', async () => {
    expect((await shell('one', 'id -u')).stdout).toBe('0\n');
    const [, outside] = /^\s*0\s+(\d+)\s+(\d+)/.exec((await shell('one', 'cat /proc/self/uid_map')).stdout) ?? [];
    const [, other] = /^\s*0\s+(\d+)\s+(\d+)/.exec((await shell('two', 'cat /proc/self/uid_map')).stdout) ?? [];
    expect(Number(outside)).toBeGreaterThan(0x1000_0000 - 1);
    expect(outside).not.toBe(other);
  });

  it('sees only its own processes and hostname', async () => {
    const { stdout } = await shell('one', 'ls /proc | grep -c "^[0-9]"; hostname; tr "\\0" " " </proc/1/cmdline');
    const [processes, hostname, init] = stdout.split('\n');
    expect(Number(processes)).toBeLessThan(10);
    expect(hostname).toBe('one');
    expect(init).toMatch(/^\/\.sandbox\/agent init/);
  });

  it('inherits no file descriptor of the host', async () => {
    const { stdout } = await shell('one', 'ls /proc/self/fd');
    // The last one is from the listing itself.
    expect(stdout.trim().split('\n').toSorted()).toEqual(['0', '1', '2', '3']);
  });

  it('gains no privileges and has few capabilities and a seccomp filter', async () => {
    const { stdout } = await shell('one', 'grep -E "^(NoNewPrivs|Seccomp|CapEff|CapBnd):" /proc/self/status');
    expect(stdout).toMatch(/NoNewPrivs:\t1/);
    expect(stdout).toMatch(/Seccomp:\t2/);
    const bounding = BigInt(`0x${/CapBnd:\t([0-9a-f]+)/.exec(stdout)?.[1]}`);
    for (const capability of [12, 13, 16, 17, 19, 21, 22, 24, 25]) {
      expect((bounding >> BigInt(capability)) & 1n, `capability ${capability}`).toBe(0n);
    }
  });

  it.each([
    ['mount', 'mount -t tmpfs none /tmp'],
    ['a namespace of its own', 'unshare -U true'],
    ['a device node', 'mknod /tmp/sda b 8 0'],
    ['kernel settings', 'echo 1 > /proc/sys/kernel/panic'],
    ['the trigger of the kernel', 'echo b > /proc/sysrq-trigger'],
    ['the helper', 'echo x > /.sandbox/agent'],
    ["the helper's memory", 'cat /proc/1/mem'],
    ["the helper's descriptors", 'ls /proc/1/fd/ >/dev/null && readlink /proc/1/fd/3'],
    ['kernel memory', 'head -c 1 /proc/kcore | grep -q .'],
    ['the end of the helper', 'kill -9 1; sleep 0.1; kill -0 1 && exit 1'],
  ])('does not reach %s', async (_what, script) => {
    expect((await shell('one', script)).exitCode).not.toBe(0);
    expect((await shell('one', 'echo alive')).stdout).toBe('alive\n');
  });

  it('contains a fork bomb', async () => {
    const bomb = shell('two', 'i=0; while [ $i -lt 200 ]; do sleep 20 & i=$((i+1)); done; wait');
    await waitFor(async () => ((await subject.driver.stats('sbx_two')).pids ?? 0) >= 60);
    expect((await subject.driver.stats('sbx_two')).pids).toBeLessThanOrEqual(64);
    expect((await shell('one', 'echo fine')).stdout).toBe('fine\n');
    await subject.driver.stop('sbx_two', 1000);
    await bomb;
    await start(sampleSpec('two', { network: 'egress' }));
  });

  it('ends only the sandbox that exceeds its memory', async () => {
    const greedy = await shell('two', 'dd if=/dev/zero of=/dev/null bs=512M count=1');
    expect(greedy.exitCode).not.toBe(0);
    await waitFor(async () => (await subject.driver.inspect('sbx_two')).outOfMemory);
    expect((await shell('one', 'echo fine')).stdout).toBe('fine\n');
    expect((await shell('two', 'echo survived')).stdout).toBe('survived\n');
  });

  it('enforces the disk size', async () => {
    const filled = await shell('two', 'dd if=/dev/zero of=/big bs=1M count=200; echo; rm -f /big');
    expect(filled.stderr).toMatch(/No space left/);
    expect((await shell('one', 'echo text > /file && cat /file')).stdout).toBe('text\n');
  });

  it('keeps its files across a stop, and never exposes them to another sandbox', async () => {
    await shell('one', 'echo kept > /root/mine');
    await subject.driver.stop('sbx_one', 1000);
    await start(sampleSpec('one', { network: 'egress' }));
    expect((await shell('one', 'cat /root/mine; stat -c %u /root/mine')).stdout).toBe('kept\n0\n');
    expect((await shell('two', 'cat /root/mine')).exitCode).not.toBe(0);
  });

  it('has only loopback with network none', async () => {
    expect((await shell('quiet', 'ls /sys/class/net')).stdout).toBe('lo\n');
    expect((await shell('quiet', 'nc -w 1 1.1.1.1 53 </dev/null')).exitCode).not.toBe(0);
  });

  it('cannot reach addresses of this host, private networks, metadata services or other sandboxes', async () => {
    const server = createServer((socket) => socket.end('reached')).listen(0, '0.0.0.0');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const own = Object.values(networkInterfaces())
      .flat()
      .filter((each) => each?.family === 'IPv4')
      .map((each) => each?.address ?? '');
    const other = /inet ([0-9.]+)/.exec((await shell('two', 'ip -4 addr show eth0')).stdout)?.[1] ?? '';
    await shell('two', `(nc -l -p ${port} </dev/null >/dev/null 2>&1 &)`);
    const targets = new Set([...own, other, '100.96.0.1', '10.0.0.1', '172.16.0.1', '192.168.0.1', '169.254.169.254']);
    for (const target of targets) {
      const { exitCode, stdout } = await shell('one', `nc -w 1 ${target} ${port} </dev/null`);
      expect({ target, refused: exitCode !== 0, stdout }).toEqual({ target, refused: true, stdout: '' });
    }
    await new Promise((resolve) => server.close(resolve));
  });
});
