import { afterAll, beforeAll, expect, it } from 'vitest';
import { missingCapabilities, type Capability, type SandboxDriver, type SandboxSpec } from '../../src/domain/driver.ts';
import { runInSandbox } from '../support/run-in-sandbox.ts';

export interface ContractSubject {
  readonly driver: SandboxDriver;
  readonly spec: (name: string) => SandboxSpec;
  /** Another driver on the same data, as after a platform restart; null if nothing survives one. */
  readonly again: (() => SandboxDriver) | null;
  /** Makes the underlying storage recount disk usage; absent if it never miscounts. */
  readonly recount?: () => Promise<void>;
  dispose(): Promise<void>;
}

/** Ids that every driver must reject, because ids become names of folders and containers. */
const HOSTILE_IDS = [
  '',
  '.',
  '..',
  '../sbx_x',
  'sbx_x/../sbx_y',
  '/etc',
  'sbx x',
  'sbx_\0',
  '-rf',
  'a'.repeat(65),
  'sbx_ä',
  '%2e%2e',
];

/** What a contract tests only in drivers that have it. */
export type TestedCapability = Exclude<Capability, 'egress_allow' | 'egress_rules' | 'gpus'>;

/**
 * The contract of every driver. Call it inside a `describe`. `lacks` is what the driver must report as missing: its
 * refusal is tested instead.
 */
export function driverContract(make: () => Promise<ContractSubject>, lacks: readonly TestedCapability[] = []): void {
  const has = (capability: TestedCapability): boolean => !lacks.includes(capability);
  let subject: ContractSubject;
  const signal = (): AbortSignal => AbortSignal.timeout(60_000);
  const started = async (name: string): Promise<SandboxSpec> => {
    const spec = subject.spec(name);
    await subject.driver.create(spec, signal());
    await subject.driver.start(spec, signal());
    return spec;
  };

  beforeAll(async () => {
    subject = await make();
    expect(await subject.driver.open()).toMatchObject({ available: true });
  });
  afterAll(() => subject.dispose());

  it('reports what it lacks', () => {
    const missing = missingCapabilities(subject.driver).filter(
      (each) => !['egress_allow', 'egress_rules', 'gpus', 'templates'].includes(each),
    );
    expect(missing).toEqual(lacks.toSorted());
  });

  it('starts a created sandbox and connects to its helper', async () => {
    const { id } = subject.spec('basic');
    expect(await subject.driver.isCreated(id)).toBe(false);
    const spec = await started('basic');
    expect(await subject.driver.isCreated(id)).toBe(true);
    const connection = await subject.driver.connect(spec.id, signal());
    await connection.ping();
    expect(await runInSandbox(connection, ['sh', '-c', 'exit 7'])).toMatchObject({ exitCode: 7 });
    await connection.close();
    expect(await subject.driver.inspect(spec.id)).toEqual({ running: true, outOfMemory: false });
    await subject.driver.remove(spec.id);
    expect(await subject.driver.isCreated(id)).toBe(false);
  });

  it('treats repeated creates and starts as no-ops', async () => {
    const spec = await started('again');
    const connection = await subject.driver.connect(spec.id, signal());
    await subject.driver.create(spec, signal());
    await subject.driver.start(spec, signal());
    await connection.ping();
    await connection.close();
    await subject.driver.remove(spec.id);
  });

  it('serves a second connection next to the first', async () => {
    const spec = await started('second');
    const first = await subject.driver.connect(spec.id, signal());
    const second = await subject.driver.connect(spec.id, signal());
    await Promise.all([first.ping(), second.ping()]);
    await Promise.all([first.close(), second.close()]);
    await subject.driver.remove(spec.id);
  });

  it('ends the connection of a sandbox that stops, and restarts it', async () => {
    const spec = await started('restart');
    const connection = await subject.driver.connect(spec.id, signal());
    await subject.driver.stop(spec.id, 5000);
    await connection.closed;
    expect(await subject.driver.inspect(spec.id)).toMatchObject({ running: false });
    await subject.driver.start(spec, signal());
    const again = await subject.driver.connect(spec.id, signal());
    await again.ping();
    await again.close();
    await subject.driver.remove(spec.id);
  });

  it('lists running and stopped sandboxes, and no removed ones', async () => {
    const running = await started('listed');
    const stopped = await started('halted');
    await subject.driver.stop(stopped.id, 5000);
    const found = new Map((await subject.driver.list()).map((each) => [each.id, each.running]));
    expect([found.get(running.id), found.get(stopped.id)]).toEqual([true, false]);
    await subject.driver.remove(running.id);
    await subject.driver.remove(stopped.id);
    const left = (await subject.driver.list()).map((each) => each.id);
    expect(left).not.toContain(running.id);
    expect(left).not.toContain(stopped.id);
  });

  if (has('pause')) {
    it('pauses and resumes idempotently, and reports it in the list', async () => {
      const spec = await started('paused');
      const { driver } = subject;
      const connection = await driver.connect(spec.id, signal());
      const look = async () => (await driver.list()).find((each) => each.id === spec.id);
      await driver.pause(spec.id);
      await driver.pause(spec.id);
      expect(await look()).toEqual({ id: spec.id, running: true, paused: true });
      expect(await driver.inspect(spec.id)).toMatchObject({ running: true });
      const late = connection.ping();
      const first = await Promise.race([late.then(() => 'answered'), driver.stats(spec.id).then(() => 'still')]);
      expect(first).toBe('still');
      await driver.resume(spec.id);
      await driver.resume(spec.id);
      await late;
      expect(await look()).toEqual({ id: spec.id, running: true, paused: false });
      await connection.close();
      await driver.remove(spec.id);
      await driver.resume(spec.id);
    });

    it('stops and removes a paused sandbox', async () => {
      const [stopped, removed] = [await started('pausestop'), await started('pausegone')];
      for (const { id } of [stopped, removed]) await subject.driver.pause(id);
      await subject.driver.stop(stopped.id, 5000);
      await subject.driver.remove(removed.id);
      expect(await subject.driver.inspect(stopped.id)).toMatchObject({ running: false });
      await subject.driver.start(stopped, signal());
      const connection = await subject.driver.connect(stopped.id, signal());
      await connection.ping();
      await connection.close();
      await subject.driver.remove(stopped.id);
      await expect(subject.driver.pause(removed.id)).rejects.toMatchObject({ code: 'RUNTIME_FAILED' });
    });
  } else {
    it('refuses a pause by name, and treats a resume as a no-op', async () => {
      const spec = await started('unpaused');
      await expect(subject.driver.pause(spec.id)).rejects.toMatchObject({ code: 'PAUSE_UNAVAILABLE' });
      await subject.driver.resume(spec.id);
      expect(await subject.driver.inspect(spec.id)).toMatchObject({ running: true });
      await subject.driver.remove(spec.id);
    });
  }

  if (has('snapshots')) {
    it('copies the files of running and stopped sandboxes, and creates sandboxes from the copies', async () => {
      const { driver } = subject;
      if (driver.snapshots === undefined) return; // see the running contract
      const spec = await started('original');
      await driver.snapshots.take(spec.id, 'snp_running');
      await driver.stop(spec.id, 5000);
      await driver.snapshots.take(spec.id, 'snp_stopped');
      const diskBytes = spec.resources.diskMb * 1024 * 1024;
      for (const of of [{ sandbox: spec.id }, { snapshot: 'snp_stopped' }]) {
        expect(await driver.snapshots.sizeBytes(of)).toBeLessThanOrEqual(diskBytes);
      }
      expect(await driver.snapshots.sizeBytes({ snapshot: 'snp_never' })).toBe(0);
      expect(await driver.snapshots.list()).toEqual(expect.arrayContaining(['snp_running', 'snp_stopped']));
      await driver.remove(spec.id);
      const made = { ...subject.spec('madeof'), snapshotId: 'snp_running' };
      await driver.create(made, signal());
      await driver.create(made, signal());
      for (const id of ['snp_running', 'snp_stopped', 'snp_running', 'snp_never']) await driver.snapshots.remove(id);
      expect(await driver.snapshots.list()).toEqual([]);
      await driver.start(made, signal());
      const connection = await driver.connect(made.id, signal());
      await connection.ping();
      await connection.close();
      await driver.remove(made.id);
      const orphan = { ...subject.spec('orphan'), snapshotId: 'snp_running' };
      await expect(driver.create(orphan, signal())).rejects.toMatchObject({ code: 'ROOTFS_FAILED' });
      await driver.remove(orphan.id);
    });
  }

  if (has('volumes')) {
    it('creates, copies, resizes and removes volumes, and starts sandboxes that mount them', async () => {
      const { driver } = subject;
      if (driver.volumes === undefined) throw new Error('it has none');
      const { volumes } = driver;
      await volumes.create('vol_made', 64);
      expect((await volumes.copy('vol_made', 'vol_copy')).sizeBytes).toBeGreaterThan(0);
      await volumes.resize('vol_copy', 96);
      await volumes.resize('vol_copy', 64); // never smaller
      expect(await volumes.list()).toEqual(expect.arrayContaining(['vol_made', 'vol_copy']));
      expect(await volumes.sizeBytes('vol_copy')).toBeGreaterThan(0);
      expect(await volumes.sizeBytes('vol_never')).toBe(0);
      const mounts = [{ volumeId: 'vol_copy', path: '/data', readOnly: false }];
      const spec = { ...subject.spec('mounts'), volumes: mounts };
      await driver.create(spec, signal());
      await driver.start(spec, signal());
      const connection = await driver.connect(spec.id, signal());
      await connection.ping();
      await connection.close();
      await driver.remove(spec.id);
      for (const id of ['vol_made', 'vol_copy', 'vol_copy', 'vol_never']) await volumes.remove(id);
      expect(await volumes.list()).toEqual([]);
      await expect(volumes.copy('vol_made', 'vol_other')).rejects.toMatchObject({ code: 'ROOTFS_FAILED' });
      await expect(volumes.resize('vol_made', 96)).rejects.toMatchObject({ code: 'ROOTFS_FAILED' });
      await volumes.remove('vol_other');
    });
  }

  it('ignores a repeated stop or remove, and one of an unknown sandbox', async () => {
    const spec = await started('gone');
    await subject.driver.stop(spec.id, 5000);
    await subject.driver.stop(spec.id, 5000);
    await subject.driver.remove(spec.id);
    await subject.driver.remove(spec.id);
    await subject.driver.remove(subject.spec('never').id);
    expect(await subject.driver.inspect(spec.id)).toMatchObject({ running: false });
  });

  it('refuses to start a sandbox that was never created', async () => {
    await expect(subject.driver.start(subject.spec('unborn'), signal())).rejects.toMatchObject({
      code: 'ROOTFS_FAILED',
    });
  });

  it('throws AGENT_TIMEOUT when it connects to a sandbox that is not running', async () => {
    await expect(subject.driver.connect(subject.spec('absent').id, signal())).rejects.toMatchObject({
      code: 'AGENT_TIMEOUT',
    });
  });

  it.each(HOSTILE_IDS)('refuses the id %j in every call', async (id) => {
    const { driver } = subject;
    const before = await driver.list();
    const spec = { ...subject.spec('hostile'), id };
    for (const call of [
      () => driver.create(spec, signal()),
      () => driver.isCreated(id),
      () => driver.start(spec, signal()),
      () => driver.connect(id, signal()),
      () => driver.inspect(id),
      () => driver.stats(id),
      () => driver.stop(id, 0),
      () => driver.remove(id),
      ...(driver.volumes === undefined ? [] : [() => driver.volumes?.create(id, 64), () => driver.volumes?.remove(id)]),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'RUNTIME_FAILED' });
    expect(await driver.list()).toEqual(before);
  });

  it('removes a sandbox that is only created, running or stopped', async () => {
    const created = subject.spec('created');
    await subject.driver.create(created, signal());
    const running = await started('runs');
    const stopped = await started('stopped');
    await subject.driver.stop(stopped.id, 0);
    const present = (await subject.driver.list()).map((each) => each.id);
    expect(present).toEqual(expect.arrayContaining([created.id, running.id, stopped.id]));
    for (const { id } of [created, running, stopped]) await subject.driver.remove(id);
    const left = (await subject.driver.list()).map((each) => each.id);
    expect(left.filter((id) => present.includes(id))).toEqual([]);
  });

  it('removes once for two concurrent requests', async () => {
    const spec = await started('twice');
    await Promise.all([subject.driver.remove(spec.id), subject.driver.remove(spec.id)]);
    expect((await subject.driver.list()).map((each) => each.id)).not.toContain(spec.id);
  });

  it('leaves nothing behind after an aborted create', async () => {
    const spec = subject.spec('given-up');
    await expect(subject.driver.create(spec, AbortSignal.abort())).rejects.toThrow();
    expect((await subject.driver.list()).map((each) => each.id)).not.toContain(spec.id);
    await subject.driver.remove(spec.id);
  });
}
