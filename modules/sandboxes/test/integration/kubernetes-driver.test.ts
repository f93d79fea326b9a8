import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeKubeApi } from '../support/fake-kube-api.ts';
import { kubernetesSubject } from '../support/kubernetes-subject.ts';
import { sampleSpec } from '../support/sample-spec.ts';
import { writeHeader } from '../../src/domain/archives/archive-header.ts';
import type { ArchiveSource, SandboxSpec, SaveDriver } from '../../src/domain/driver.ts';
import { sandboxErrors } from '../../src/errors.ts';
import type { KubernetesDriver } from '../../src/adapters/drivers/kubernetes/kubernetes-driver.ts';

const NEVER = new AbortController().signal;
const never = (): Promise<never> => new Promise(() => undefined);

describe('the driver of pods', () => {
  let api: FakeKubeApi;
  let driver: KubernetesDriver;
  let saves: SaveDriver;
  /** Throws once another node has the tunnel. */
  let assertOwner: () => Promise<void>;

  beforeEach(async () => {
    api = new FakeKubeApi();
    const access = await api.open();
    const image = 'busybox:1';
    assertOwner = async () => undefined;
    const changes = { access: () => Promise.resolve(access), assertOwner: () => assertOwner() };
    ({ driver } = kubernetesSubject({ kubeconfig: '', namespace: 'sandboxes', image, helperImage: image, changes }));
    expect(await driver.open()).toMatchObject({ available: true });
    if (driver.saves === undefined) throw new Error('it streams snapshots');
    saves = driver.saves;
  });
  afterEach(async () => {
    await driver.close();
    await api.close();
  });

  const started = async (): Promise<SandboxSpec> => {
    const spec = sampleSpec('one');
    await driver.create(spec, NEVER);
    await driver.start(spec, NEVER);
    api.asked.length = 0;
    return spec;
  };
  const conditionOf = async () => (await driver.list())[0];
  const archive = (open: () => AsyncIterable<Uint8Array>): ArchiveSource => ({
    base: null,
    open,
    openBase: () => Promise.resolve(null),
  });
  const endOf = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error);

  it('opens the files of a new pod once the pod can take them', async () => {
    api.schedules = false;
    let isOpen = false;
    const content = async function* () {
      isOpen = true;
      yield writeHeader({ architecture: 'amd64' });
    };
    const creating = saves.create({ ...sampleSpec('one'), snapshotId: 'snp_a' }, archive(content), NEVER);
    await expect.poll(() => api.pods.size).toBe(1);
    const waiting = await Promise.race([creating, new Promise((resolve) => setImmediate(() => resolve('waiting')))]);
    expect([waiting, isOpen]).toEqual(['waiting', false]);
    api.schedule();
    await creating;
    expect([isOpen, api.asked]).toEqual([true, ['root.restore']]);
  });

  it('ends a restore with its start, although the engine does not answer a read', async () => {
    const stop = new AbortController();
    const hanging = async function* () {
      yield writeHeader({ architecture: 'amd64' });
      await never();
    };
    const creating = endOf(saves.create({ ...sampleSpec('one'), snapshotId: 'snp_a' }, archive(hanging), stop.signal));
    await expect.poll(() => api.asked).toContain('root.restore');
    stop.abort(sandboxErrors.AGENT_TIMEOUT());
    expect(await creating).toMatchObject({ code: 'AGENT_TIMEOUT' });
    expect(api.pods.size).toBe(0);
  });

  it('ends a measurement with the signal', async () => {
    const { id } = await started();
    api.answer = () => undefined;
    const stop = new AbortController();
    const measuring = endOf(saves.sizeBytes(id, stop.signal));
    await expect.poll(() => api.asked).toContain('root.measure');
    stop.abort(sandboxErrors.SNAPSHOT_ENDED({ details: { reason: 'its sandbox was stopped' } }));
    expect(await measuring).toMatchObject({ code: 'SNAPSHOT_ENDED' });
  });

  it('takes no files of a sandbox that another node may have changed meanwhile', async () => {
    const { id } = await started();
    api.answer = () => {
      assertOwner = () => Promise.reject(sandboxErrors.CLUSTER_OFFLINE({ details: { cluster: 'home' } }));
      return { result: { bytes: 1, files: 1 } };
    };
    expect(await endOf(saves.sizeBytes(id, NEVER))).toMatchObject({ code: 'CLUSTER_OFFLINE' });
  });

  it.each([
    ['stays frozen if its sandbox ends', sandboxErrors.SNAPSHOT_ENDED({ details: { reason: 'deleted' } }), true],
    ['is resumed if the platform shuts down', new Error('the platform is shutting down'), false],
  ])(
    'ends a transfer with the signal, without waiting for the storage; what was frozen %s',
    async (_, reason, paused) => {
      const { id } = await started();
      api.answer = (op) => (op === 'root.save' ? undefined : { result: {} });
      const stop = new AbortController();
      const saving = endOf(saves.save(id, 1024, stop.signal, never));
      await expect.poll(() => api.asked).toEqual(['pause', 'root.save']);
      expect(await conditionOf()).toMatchObject({ paused: true });
      stop.abort(reason);
      expect(await saving).toBe(reason);
      expect(await conditionOf()).toMatchObject({ running: true, paused });
      expect(api.asked.includes('resume')).toBe(!paused);
    },
  );

  it('resumes a frozen sandbox to stop it, so that its programs can end, and kills them if that fails', async () => {
    const spec = await started();
    await driver.pause(spec.id);
    await driver.stop(spec.id, 5000);
    expect(api.asked).toEqual(['pause', 'resume', 'halt 5000']);
    await driver.start(spec, NEVER);
    await driver.pause(spec.id);
    api.answer = () => ({ error: { code: 'FAILED', message: 'it does not work' } });
    api.asked.length = 0;
    await driver.stop(spec.id, 5000);
    expect(api.asked).toEqual(['resume', 'halt 0']);
    expect(await conditionOf()).toMatchObject({ running: false });
  });
});
