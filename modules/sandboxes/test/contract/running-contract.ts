import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { HelperConnection } from '../../src/domain/helper/helper-connection.ts';
import { TRANSFER_WINDOW_BYTES } from '../../src/domain/helper/frames.ts';
import type { SandboxDriver, SandboxSpec } from '../../src/domain/driver.ts';
import type { ContractSubject, TestedCapability } from './driver-contract.ts';
import { copiesOf } from './copies.ts';
import { runInSandbox, type RunResult } from '../support/run-in-sandbox.ts';
import { volumeContract } from './volume-contract.ts';

const LIMIT_MS = 60_000;

/**
 * The second part of the driver contract, for drivers that run programs: limits apply and affect no other sandbox,
 * files persist, and a restarted driver continues where the previous one ended. What the driver lacks is not tested.
 */
export function runningContract(make: () => Promise<ContractSubject>, lacks: readonly TestedCapability[] = []): void {
  const has = (capability: TestedCapability): boolean => !lacks.includes(capability);
  let subject: ContractSubject;
  const signal = (): AbortSignal => AbortSignal.timeout(LIMIT_MS);
  const inside = async (spec: SandboxSpec, script: string, driver = subject.driver): Promise<RunResult> => {
    const connection = await driver.connect(spec.id, signal());
    try {
      return await runInSandbox(connection, ['sh', '-c', script]);
    } finally {
      await connection.close();
    }
  };
  const using = async (names: readonly string[], body: (...specs: SandboxSpec[]) => Promise<void>): Promise<void> => {
    const specs = names.map((name) => subject.spec(name));
    try {
      for (const spec of specs) await bringUp(subject.driver, spec, signal());
      await body(...specs);
    } finally {
      for (const { id } of specs) await subject.driver.remove(id);
    }
  };

  /**
   * Fills the disk. btrfs may mark its counts as inconsistent after containers were removed (`inconsistent` in its
   * sysfs folder of qgroups; seen on Linux 6.18), and then enforces no limits until they are recounted.
   */
  const fill = async (spec: SandboxSpec, file: string): Promise<void> => {
    const script = `dd if=/dev/zero of=${file} bs=1M count=200; sync`;
    const full = async (): Promise<boolean> => {
      if (/No space left|quota exceeded/i.test((await inside(spec, script)).stderr)) return true;
      await subject.recount?.();
      return false;
    };
    await waitFor(full, { timeoutMs: 50_000, intervalMs: 500, description: 'the disk to be full' });
  };

  beforeAll(async () => {
    subject = await make();
    expect(await subject.driver.open()).toMatchObject({ available: true });
  });
  afterAll(() => subject.dispose());

  it('keeps files across a stop and a start', () =>
    using(['kept'], async (spec) => {
      await inside(spec, 'echo text > /root/file');
      await subject.driver.stop(spec.id, 1000);
      await subject.driver.start(spec, signal());
      expect((await inside(spec, 'cat /root/file')).stdout).toBe('text\n');
    }));

  if (has('pause')) {
    it('runs nothing while it is paused, and continues where it was, but for what was stopped before', () =>
      using(['frozen'], async (spec) => {
        const { driver } = subject;
        const count = 'i=0; while :; do i=$((i+1)); echo $i > /root/count.new; mv /root/count.new /root/count; done';
        await inside(
          spec,
          `sh -c '${count}' >/dev/null 2>&1 & sleep 1000 >/dev/null 2>&1 & kill -STOP $!; echo $! > /root/halted`,
        );
        await waitFor(async () => (await inside(spec, 'cat /root/count')).stdout !== '');
        const waiting = inside(spec, 'echo begun > /root/begun; sleep 1; echo "ended $?"');
        await waitFor(async () => (await inside(spec, 'cat /root/begun')).stdout !== '');
        await driver.pause(spec.id);
        const used = async (): Promise<number> => (await driver.stats(spec.id)).cpuMicroseconds ?? 0;
        const before = await used();
        const beforeMs = performance.now();
        await waitFor(() => performance.now() - beforeMs > 1000);
        // The counter would use a processor; the helper answers `stats`.
        if (has('usage')) expect((await used()) - before).toBeLessThan((performance.now() - beforeMs) * 250);
        await driver.resume(spec.id);
        expect((await waiting).stdout).toBe('ended 0\n');
        const first = (await inside(spec, 'cat /root/count')).stdout;
        await waitFor(async () => (await inside(spec, 'cat /root/count')).stdout !== first);
        expect((await inside(spec, 'cut -d" " -f3 /proc/$(cat /root/halted)/stat')).stdout).toBe('T\n');
      }));
  }

  if (has('volumes')) {
    volumeContract({ subject: () => subject, inside, signal });
  }

  if (has('snapshots')) {
    it('creates sandboxes from copies of its files, each with its own name and limits', () =>
      using(['source'], async (source) => {
        const { driver } = subject;
        const copies = copiesOf(driver);
        const bringUpCopy = async (spec: SandboxSpec): Promise<void> => {
          await copies.create(spec, signal());
          await driver.start(spec, signal());
        };
        await inside(source, 'echo one > /root/file; chown 7:8 /root/file; ln -s file /root/link; rm -rf /home');
        const { sizeBytes } = await copies.take(source.id, 'snp_first');
        expect(sizeBytes).toBeGreaterThan(0);
        await inside(source, 'echo two > /root/file');
        const first = { ...subject.spec('first'), snapshotId: 'snp_first' };
        const second = { ...subject.spec('second'), snapshotId: 'snp_second' };
        try {
          await bringUpCopy(first);
          const { stdout } = await inside(first, 'cat /root/link; stat -c %u:%g /root/file; ls /home 2>&1; hostname');
          expect(stdout).toMatch(/^one\n7:8\nls: \/home: No such file.*\n/);
          expect(stdout.endsWith(`\n${first.hostname}\n`)).toBe(true);
          const named = `cat /etc/hostname; grep -c ${first.hostname} /etc/hosts`;
          expect((await inside(first, named)).stdout).toBe(`${first.hostname}\n1\n`);
          expect((await inside(first, 'echo $PATH; pwd')).stdout).toBe(
            (await inside(source, 'echo $PATH; pwd')).stdout,
          );
          if (has('disk_limit')) {
            await fill(first, '/root/big');
            await inside(first, 'rm /root/big');
          }
          // A copy of a copy depends on neither snapshot nor on their sandboxes.
          await inside(first, 'echo three > /root/more');
          await copies.take(first.id, 'snp_second');
          await copies.remove('snp_first');
          await driver.remove(first.id);
          await bringUpCopy(second);
          await copies.remove('snp_second');
          expect((await inside(second, 'cat /root/file /root/more')).stdout).toBe('one\nthree\n');
          await driver.stop(second.id, 1000);
          await driver.start(second, signal());
          expect((await inside(second, 'cat /root/file /root/more')).stdout).toBe('one\nthree\n');
          expect((await inside(source, 'cat /root/file')).stdout).toBe('two\n');
        } finally {
          for (const { id } of [first, second]) await driver.remove(id);
        }
        expect(await copies.list()).toEqual([]);
      }));
  }

  it('lets processes exit within the grace period, and kills the rest', () =>
    using(['grace'], async (spec) => {
      const connection = await subject.driver.connect(spec.id, signal());
      await session(connection, 'trap "echo ended > /root/ended; exit" TERM; while :; do sleep 0.1; done');
      await session(connection, 'trap "" TERM HUP; while :; do sleep 0.1; done');
      await subject.driver.stop(spec.id, 1000);
      await connection.closed;
      await subject.driver.start(spec, signal());
      expect((await inside(spec, 'cat /root/ended')).stdout).toBe('ended\n');
    }));

  it('keeps sandboxes running without a driver, and finds them again with their processes', () =>
    using(['stays'], async (spec) => {
      await inside(spec, '(trap "" HUP TERM; exec sleep 1000) >/dev/null 2>&1 & echo $! > /root/pid');
      const second = subject.again?.();
      if (second === undefined) throw new Error('the subject of this contract has no second driver');
      await subject.driver.close(); // two drivers never manage the same sandboxes
      try {
        expect(await second.open()).toMatchObject({ available: true });
        expect(await second.list()).toContainEqual(expect.objectContaining({ id: spec.id, running: true }));
        const found = await inside(spec, 'tr "\\0" " " < /proc/$(cat /root/pid)/cmdline', second);
        expect(found.stdout.trim()).toBe('sleep 1000');
      } finally {
        await second.close();
        expect(await subject.driver.open()).toMatchObject({ available: true });
      }
    }));

  if (has('oom_survival')) {
    it('reports an out-of-memory kill, and only for the affected sandbox', () =>
      using(['greedy', 'modest'], async (greedy, modest) => {
        if (greedy === undefined || modest === undefined) return;
        const eaten = await inside(greedy, 'dd if=/dev/zero of=/dev/null bs=512M count=1');
        expect(eaten.exitCode).not.toBe(0);
        await waitFor(async () => (await subject.driver.inspect(greedy.id)).outOfMemory);
        expect(await subject.driver.inspect(modest.id)).toEqual({ running: true, outOfMemory: false });
        expect((await inside(greedy, 'echo alive')).stdout).toBe('alive\n');
      }));
  }

  if (has('disk_limit')) {
    it('enforces the disk size, reports a full disk, and recovers after files are deleted', () =>
      using(['full', 'roomy'], async (full, roomy) => {
        if (full === undefined || roomy === undefined) return;
        await fill(full, '/big');
        const connection = await subject.driver.connect(full.id, signal());
        const stream = connection.start(
          { op: 'file.write', path: '/root/more', mode: 0o600, parents: false },
          { inputWindowBytes: TRANSFER_WINDOW_BYTES },
        );
        await stream.write(Buffer.alloc(4 * 1024 * 1024, 1));
        stream.finishInput();
        expect(await stream.outcome).toMatchObject({ ok: false, code: 'DISK_FULL' });
        await connection.close();
        expect((await inside(roomy, 'dd if=/dev/zero of=/some bs=1M count=8 && echo fits')).stdout).toBe('fits\n');
        // Some storage frees space with a delay.
        await inside(full, 'rm /big; sync');
        await waitFor(async () => (await inside(full, 'echo text > /small && cat /small')).stdout === 'text\n');
      }));
  }

  if (has('process_limit')) {
    it('enforces the process limit and reports it', () =>
      using(['bomb', 'calm'], async (bomb, calm) => {
        if (bomb === undefined || calm === undefined) return;
        const connection = await subject.driver.connect(bomb.id, signal());
        const { pids } = bomb.resources;
        const running = runInSandbox(connection, [
          'sh',
          '-c',
          'i=0; while [ $i -lt 200 ]; do sleep 20 & i=$((i+1)); done; wait',
        ]);
        await waitFor(async () => ((await subject.driver.stats(bomb.id)).pids ?? 0) >= pids - 4);
        expect((await subject.driver.stats(bomb.id)).pids).toBeLessThanOrEqual(pids);
        expect((await inside(calm, 'echo fine')).stdout).toBe('fine\n');
        await subject.driver.stop(bomb.id, 0);
        await running;
        await connection.close();
      }));
  }

  if (has('usage')) {
    it('measures resource usage', () =>
      using(['counted'], async (spec) => {
        await inside(spec, 'dd if=/dev/zero of=/root/data bs=1M count=8; sync');
        const { cpuMicroseconds, memoryBytes, pids, diskBytes } = await subject.driver.stats(spec.id);
        expect(cpuMicroseconds).toBeGreaterThan(0);
        expect(memoryBytes).toBeGreaterThan(0);
        expect(pids).toBeGreaterThan(0);
        if (has('disk_usage')) expect(diskBytes).toBeGreaterThanOrEqual(8 * 1024 * 1024);
        else expect(diskBytes).toBeNull();
      }));
  }
}

async function bringUp(driver: SandboxDriver, spec: SandboxSpec, signal: AbortSignal): Promise<void> {
  await driver.create(spec, signal);
  await driver.start(spec, signal);
}

/** Starts a shell that outlives its connection; resolves when it runs. */
async function session(connection: HelperConnection, script: string): Promise<void> {
  const name = `s${script.length}`;
  const argv = ['sh', '-c', `echo ready; ${script}`];
  const started = Promise.withResolvers<void>();
  const stream = connection.start(
    { op: 'process.start', argv, env: {}, tty: { cols: 80, rows: 24 }, session: name },
    {
      data: (bytes) => {
        stream.consumed(bytes.length);
        if (bytes.includes('ready')) started.resolve();
      },
    },
  );
  void stream.outcome.then(() => started.reject(new Error('the session ended')));
  await started.promise;
  started.promise.catch(() => undefined);
}
