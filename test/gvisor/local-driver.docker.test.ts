import { release } from 'node:os';
import { driverContract, type ContractSubject } from '@svc/sandboxes/testing/driver-contract';
import { localSubject, type LocalSubject } from '@svc/sandboxes/testing/local-subject';
import { startPlatform } from '@svc/sandboxes/testing/platform';
import { runInSandbox, type RunResult } from '@svc/sandboxes/testing/run-in-sandbox';
import { sampleSpec } from '@svc/sandboxes/testing/sample-spec';
import { volumeContract } from '@svc/sandboxes/testing/volume-contract';
import { describeRequiring, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureGvisor } from './binaries.ts';

const LIMIT_MS = 120_000;
const RESOURCES = { cpuMillis: 1000, memoryMb: 256, diskMb: 64, pids: 32 };

describeRequiring(
  [
    'linux',
    'root',
    'cgroups',
    'go',
    'command:crun',
    'command:mkfs.ext4',
    'command:nft',
    'command:busybox',
    'command:mmdebstrap',
  ],
  'gVisor on the local driver',
  () => {
    const spec = (name: string) => {
      return sampleSpec(`${name}-runsc`, { isolation: 'gvisor', network: 'egress', resources: RESOURCES });
    };
    const make = async (): Promise<LocalSubject> => {
      return localSubject('builtin', { runsc: (await ensureGvisor()).program });
    };

    describe('as a driver', () => {
      driverContract(async (): Promise<ContractSubject> => {
        const { driver, again, dispose } = await make();
        return { driver, spec, again, dispose };
      });
    });

    describe('with programs', () => {
      let subject: LocalSubject;
      const signal = (): AbortSignal => AbortSignal.timeout(LIMIT_MS);
      const start = async (name: string): Promise<string> => {
        await subject.driver.create(spec(name), signal());
        await subject.driver.start(spec(name), signal());
        return spec(name).id;
      };
      const inside = async (id: string, script: string, driver = subject.driver): Promise<RunResult> => {
        const connection = await driver.connect(id, signal());
        try {
          return await runInSandbox(connection, ['sh', '-c', script]);
        } finally {
          await connection.close();
        }
      };

      beforeAll(async () => {
        subject = await make();
        expect(await subject.driver.open()).toMatchObject({ available: true, details: { gvisor: true } });
        expect(subject.driver.whyUnsupported('gvisor')).toBeNull();
      });
      afterAll(() => subject.dispose());

      describe('with volumes', () => {
        volumeContract({
          subject: () => ({ ...subject, spec }),
          inside: ({ id }, script) => inside(id, script),
          signal,
        });
      });

      it('runs programs on gVisor’s kernel, not the host’s', async () => {
        const id = await start('kernel');
        expect((await inside(id, 'dmesg')).stdout).toContain('Starting gVisor');
        const { stdout } = await inside(id, 'uname -r; ls /proc | grep -c "^[0-9]"');
        const [said, processes] = stdout.split('\n');
        expect(said).toBe('4.4.0'); // gVisor's reported version
        expect(said).not.toBe(release());
        expect(Number(processes)).toBeLessThan(10);
        // The host kernel's tables, modules, memory and devices don't exist there at all.
        const doors = '/proc/kallsyms /proc/kcore /proc/modules /proc/keys /proc/scsi /dev/kmsg /dev/mem /sys/module/*';
        expect((await inside(id, `for door in ${doors}; do test -e $door && echo $door; done`)).stdout).toBe('');
        expect((await inside(id, 'echo b > /proc/sysrq-trigger')).exitCode).not.toBe(0);
        await subject.driver.remove(id);
      });

      it('runs next to sandboxes on the host’s kernel', async () => {
        const plain = sampleSpec('plain');
        await subject.driver.create(plain, signal());
        await subject.driver.start(plain, signal());
        expect((await inside(plain.id, 'uname -r')).stdout.trim()).toBe(release());
        await subject.driver.remove(plain.id);
      });

      it('keeps files across a stop and a start, on a disk of its size, and reports usage', async () => {
        const id = await start('disk');
        expect((await inside(id, 'dd if=/dev/zero of=/big bs=1M count=200')).stderr).toContain('No space left');
        await inside(id, 'rm /big; dd if=/dev/zero of=/root/some bs=1M count=8; echo text > /root/file; sync');
        expect((await subject.driver.stats(id)).diskBytes).toBeGreaterThanOrEqual(8 * 1024 * 1024);
        await subject.driver.stop(id, 1000);
        await subject.driver.start(spec('disk'), signal());
        expect((await inside(id, 'cat /root/file; hostname')).stdout).toBe('text\ndisk-runsc\n');
        await subject.driver.remove(id);
      });

      it('enforces the process limit without affecting neighbors', async () => {
        const [bomb, calm] = [await start('bomb'), await start('calm')];
        const { stderr, exitCode } = await inside(bomb, 'i=0; while [ $i -lt 64 ]; do sleep 60 & i=$((i+1)); done');
        expect(exitCode).not.toBe(0);
        expect(stderr).toContain("can't fork");
        expect((await inside(calm, 'echo fine')).stdout).toBe('fine\n');
        expect((await subject.driver.stats(calm)).pids).toBeNull();
        for (const id of [bomb, calm]) await subject.driver.remove(id);
      });

      it('ends when out of memory, says so, and does not affect neighbors', async () => {
        const [greedy, modest] = [await start('greedy'), await start('modest')];
        const eaten = inside(greedy, 'dd if=/dev/zero of=/dev/null bs=512M count=1').catch(() => null);
        await waitFor(async () => (await subject.driver.inspect(greedy)).outOfMemory);
        await eaten;
        expect(await subject.driver.inspect(modest)).toEqual({ running: true, outOfMemory: false });
        expect((await inside(modest, 'echo fine')).stdout).toBe('fine\n');
        for (const id of [greedy, modest]) await subject.driver.remove(id);
      });

      it('reaches neither its neighbors nor this host', async () => {
        const [one, two] = [await start('one'), await start('two')];
        const found = /inet (100\.96\.[0-9.]+)/.exec((await inside(two, 'ip -4 addr show eth0')).stdout);
        const address = found?.[1] ?? 'none';
        await inside(two, '(while :; do echo reached | nc -l -p 9000; done) >/dev/null 2>&1 &');
        // The control: it listens and responds to permitted clients.
        await waitFor(async () => (await inside(two, 'nc -w 2 127.0.0.1 9000 </dev/null')).stdout === 'reached\n');
        for (const host of [address, '100.96.0.1', '10.0.0.1']) {
          expect((await inside(one, `nc -w 2 ${host} 9000 </dev/null`)).stdout).toBe('');
        }
        for (const id of [one, two]) await subject.driver.remove(id);
      });

      it('keeps running without a driver, and is adopted with its processes', async () => {
        const id = await start('stays');
        await inside(id, '(trap "" HUP TERM; exec sleep 1000) >/dev/null 2>&1 & echo $! > /root/pid');
        await subject.driver.close();
        const second = subject.again();
        expect(await second.open()).toMatchObject({ available: true });
        expect(await second.list()).toContainEqual(expect.objectContaining({ id, running: true }));
        expect((await inside(id, 'tr "\\0" " " < /proc/$(cat /root/pid)/cmdline', second)).stdout).toBe('sleep 1000 ');
        await second.remove(id);
        expect((await second.list()).map((each) => each.id)).not.toContain(id);
        await second.close();
        await subject.driver.open();
      });
    });

    it('is named in the API, inherited by a fork, and refused where gVisor is not installed', async () => {
      const { program } = await ensureGvisor();
      const body = { image: 'busybox', isolation: 'gvisor', resources: { memory_mb: 256, disk_mb: 64 } };
      const platform = await startPlatform({ prepare: 'busybox', config: { isolation: 'namespaces', runsc: program } });
      try {
        const running = (id: string) => waitFor(async () => (await look(id))['status'] === 'running');
        const look = async (id: string) => (await platform.call('GET', `/api/containers/${id}`)).body;
        const { id } = (await platform.call('POST', '/api/containers', { body })).body;
        await running(id);
        expect(await look(id)).toMatchObject({ isolation: 'gvisor', error: null });
        const kernel = await platform.call('POST', `/api/containers/${id}/exec`, { body: { command: 'dmesg' } });
        expect(kernel.body['stdout']).toContain('Starting gVisor');
        const forked = await platform.call('POST', `/api/containers/${id}/fork`, { body: {} });
        expect(forked.body['containers']).toMatchObject([{ isolation: 'gvisor' }]);
        await running(forked.body['containers'][0].id);
      } finally {
        await platform.dispose();
      }
      const without = await startPlatform({ prepare: 'busybox', config: { runsc: '/nowhere/runsc' } });
      try {
        const refused = await without.call('POST', '/api/containers', { body });
        expect(refused).toMatchObject({
          status: 400,
          body: { code: 'UNSUPPORTED_ISOLATION', details: { reason: 'sandboxes.runsc names no program' } },
        });
      } finally {
        await without.dispose();
      }
    });
  },
);
