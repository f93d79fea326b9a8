import { readdirSync, readFileSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { skippedTitle, waitFor } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { localDriverReason, localSubject, PREPARED_KIND, type LocalSubject } from '../../support/local-subject.ts';
import { runInSandbox } from '../../support/run-in-sandbox.ts';
import { sampleSpec } from '../../support/sample-spec.ts';
import type { PreparedFigures, SandboxSpec } from '../../../src/domain/driver.ts';

const reason = localDriverReason();
const title = 'prepared starts';
const signal = (): AbortSignal => AbortSignal.timeout(60_000);
const WISH = { image: 'busybox', isolation: 'namespaces', ...PREPARED_KIND } as const;

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let subject: LocalSubject;

  beforeEach(async () => {
    subject = await localSubject('builtin', { preparedStarts: 2 });
    expect(await subject.driver.open()).toMatchObject({ available: true });
    await filled();
  });
  afterEach(() => subject.dispose());

  const figures = (): PreparedFigures | undefined => subject.driver.preparedStarts?.figures();
  const filled = () => waitFor(() => figures()?.ready === 2, { description: 'two prepared starts' });
  const take = (wish: Omit<SandboxSpec, 'id' | 'hostname'> = WISH): string | null =>
    subject.driver.preparedStarts?.take(wish) ?? null;
  const taken = (): string => {
    const id = take();
    if (id === null) throw new Error('there was none');
    return id;
  };
  const disks = (): Promise<string[]> => readdir(join(subject.folder.path, 'sandboxes/prepared'));
  const waiting = (): string[] => readdirSync(join(subject.runFolder, 'sandboxes'));
  const readState = (id: string): Record<string, unknown> =>
    // Written by the launcher.
    JSON.parse(readFileSync(join(subject.runFolder, 'sandboxes', id, 'state.json'), 'utf8')) as Record<string, unknown>;
  const launcherPid = (): number => Number(readFileSync(join(subject.runFolder, 'launcher.lock'), 'utf8'));

  async function run(spec: SandboxSpec): Promise<void> {
    await subject.driver.create(spec, signal());
    await subject.driver.start(spec, signal());
  }

  async function shown(id: string, script: string): Promise<string> {
    const connection = await subject.driver.connect(id, signal());
    try {
      return (await runInSandbox(connection, ['sh', '-c', script])).stdout.trim();
    } finally {
      await connection.close();
    }
  }

  it('take on the requested image, name, limits, network and disk', async () => {
    const id = taken();
    const spec = sampleSpec('x', { ...WISH, id, hostname: 'chosen', resources: { ...WISH.resources, pids: 50 } });
    const inode = (await stat(join(subject.folder.path, 'sandboxes/prepared', `${id}.img`))).ino;
    const { pid } = readState(id);
    await run(spec);
    expect(readState(id)).toMatchObject({ pid, sandbox: id });
    expect(readState(id)).not.toHaveProperty('prepared_disk');
    expect((await stat(join(subject.folder.path, 'sandboxes/disks', id, 'disk.img'))).ino).toBe(inode);
    expect(await shown(id, 'hostname; cat /etc/hostname; grep 127.0.1.1 /etc/hosts; ls /bin/busybox')).toBe(
      'chosen\nchosen\n127.0.1.1 chosen\n/bin/busybox',
    );
    expect(await shown(id, 'ip -o -4 address show dev eth0 | wc -l; ip route | grep -c "^default"')).toBe('1\n1');
    expect(await shown(id, 'cat /etc/resolv.conf')).toMatch(/^nameserver /);
    const groups = ['/sys/fs/cgroup', '/sys/fs/cgroup/pids'].map((each) => `${each}/svc-sandboxes/${id}/pids.max`);
    expect(groups.map(readOrEmpty).join('').trim()).toBe('50');
    expect(figures()).toMatchObject({ hits: 1, misses: 0 });
    await filled();
    expect(await disks()).toHaveLength(2);
  });

  it('keep their files across a stop and a start, like any sandbox', async () => {
    const id = taken();
    const spec = sampleSpec('x', { ...WISH, id });
    await run(spec);
    await shown(id, 'echo text > /root/file');
    await subject.driver.stop(id, 1000);
    await subject.driver.start(spec, signal());
    expect(await shown(id, 'cat /root/file')).toBe('text');
  });

  it.each<[string, Partial<SandboxSpec>]>([
    ['another disk', { resources: { ...WISH.resources, diskMb: 128 } }],
    ['no network', { network: 'none' }],
    ['named hosts only', { egressAllow: ['example.com'] }],
    ['the files of a snapshot', { snapshotId: 'snp_x' }],
    ['another isolation', { isolation: 'gvisor' }],
  ])('do not match a sandbox with %s', (_, change) => {
    expect(take({ ...WISH, ...change })).toBeNull();
    expect(figures()).toEqual({ ready: 2, target: 2, hits: 0, misses: 1 });
  });

  it('are not listed as sandboxes, and can be given back', async () => {
    const [one, other] = [taken(), taken()];
    expect(await subject.driver.list()).toEqual([]);
    subject.driver.preparedStarts?.release(one);
    expect(taken()).toBe(one);
    expect(one).not.toBe(other);
  });

  it('are removed with a sandbox that took one and never started', async () => {
    const id = taken();
    await subject.driver.remove(id);
    expect(waiting()).not.toContain(id);
    expect(await disks()).not.toContain(`${id}.img`);
    await filled();
    expect(await disks()).toHaveLength(2);
  });

  it('are recreated when their launcher is killed; a sandbox that took one starts anyway', async () => {
    const id = taken();
    const pid = launcherPid();
    process.kill(pid, 'SIGKILL');
    // Any call starts another launcher once the exit of this one is noticed.
    await waitFor(() =>
      subject.driver.inspect(id).then(
        () => launcherPid() !== pid,
        () => false,
      ),
    );
    await run(sampleSpec('x', { ...WISH, id, hostname: 'anyway' }));
    expect(await shown(id, 'hostname')).toBe('anyway');
    await filled();
    expect(launcherPid()).not.toBe(pid);
    await waitFor(async () => waiting().length === 3 && (await disks()).length === 2);
  });

  it('are recreated automatically when the launcher is killed, without leftovers', async () => {
    const ended = waiting();
    const pid = launcherPid();
    process.kill(pid, 'SIGKILL');
    await waitFor(
      () => launcherPid() !== pid && waiting().every((id) => !ended.includes(id)) && figures()?.ready === 2,
    );
    await waitFor(async () => waiting().length === 2 && (await disks()).length === 2);
    for (const id of waiting()) process.kill(Number(readState(id)['pid']), 0); // throws if there is no such process
  });

  it('are replaced when they exit while waiting', async () => {
    const [ended = ''] = waiting();
    process.kill(Number(readState(ended)['pid']), 'SIGKILL');
    await waitFor(() => !waiting().includes(ended) && waiting().length === 2 && figures()?.ready === 2);
    await waitFor(async () => (await disks()).length === 2);
  });

  it('leave nothing behind when the driver is closed', async () => {
    const ids = waiting();
    expect(ids).toHaveLength(2);
    await subject.driver.close();
    expect(await disks()).toEqual([]);
    const left = readdirSync('/run/svc/slots').filter((slot) =>
      ids.some((id) => readOrEmpty(`/run/svc/slots/${slot}`).includes(id)),
    );
    expect(left).toEqual([]);
  });
});

/** Empty if missing: other layouts have groups elsewhere, and slots of other platforms come and go. */
function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
