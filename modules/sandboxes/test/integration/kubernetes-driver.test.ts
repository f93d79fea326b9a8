import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeKubeApi } from '../support/fake-kube-api.ts';
import { kubernetesSubject } from '../support/kubernetes-subject.ts';
import { sampleSpec } from '../support/sample-spec.ts';
import { writeHeader } from '../../src/domain/archives/archive-header.ts';
import type { ArchiveSource, SaveDriver } from '../../src/domain/driver.ts';
import { sandboxErrors } from '../../src/errors.ts';
import type { KubernetesDriver } from '../../src/adapters/drivers/kubernetes/kubernetes-driver.ts';

const NEVER = new AbortController().signal;
const never = (): Promise<never> => new Promise(() => undefined);

describe('the driver of pods', () => {
  let api: FakeKubeApi;
  let driver: KubernetesDriver;
  let saves: SaveDriver;

  beforeEach(async () => {
    api = new FakeKubeApi();
    const access = await api.open();
    const image = 'busybox:1';
    const changes = { access: () => Promise.resolve(access) };
    ({ driver } = kubernetesSubject({ kubeconfig: '', namespace: 'sandboxes', image, helperImage: image, changes }));
    expect(await driver.open()).toMatchObject({ available: true });
    if (driver.saves === undefined) throw new Error('it streams snapshots');
    saves = driver.saves;
  });
  afterEach(async () => {
    await driver.close();
    await api.close();
  });

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
});
