import { afterAll, beforeAll, expect, it } from 'vitest';
import type { BuildDriver, SandboxDriver, SandboxSpec } from '../../src/domain/driver.ts';
import type { ContractSubject } from './driver-contract.ts';

const LAYERS = ['tpl_aaaaaaaaaaaaaaaaaaaaaaaaaa', 'tpl_bbbbbbbbbbbbbbbbbbbbbbbbbb'] as const;

/** The contract of drivers that make images. Call it inside a `describe`. */
export function buildContract(make: () => Promise<ContractSubject>): void {
  let subject: ContractSubject;
  let builds: BuildDriver;
  const signal = (): AbortSignal => AbortSignal.timeout(60_000);

  beforeAll(async () => {
    subject = await make();
    expect(await subject.driver.open()).toMatchObject({ available: true });
    builds = buildsOf(subject.driver);
  });
  afterAll(() => subject.dispose());

  const from = (name: string, digest: string, building: boolean): SandboxSpec => {
    const place = { buildId: null, user: null, workingFolder: null, startCommand: null };
    return { ...subject.spec(name), template: { digest, ...place, building } };
  };

  it('finds images of the catalog and none that it did not make', async () => {
    const { image } = subject.spec('any');
    const base = await builds.base(image, signal());
    expect(await builds.find(base.digest)).toEqual(base);
    expect(await builds.find(`built-${'0'.repeat(64)}`)).toBeNull();
    await expect(builds.base('nothing', signal())).rejects.toMatchObject({ code: 'UNKNOWN_IMAGE' });
  });

  it('makes images with other settings, which sandboxes start from, until their layer is removed', async () => {
    const { image } = subject.spec('any');
    const base = await builds.base(image, signal());
    const settings = { ...base.settings, environment: { A: 'b' }, user: 'app' };
    const other = await builds.configure(base.digest, LAYERS[0], settings, 'another workspace');
    const digest = await builds.configure(base.digest, LAYERS[0], settings, 'workspace');
    expect(await builds.configure(base.digest, LAYERS[0], settings, 'workspace')).toBe(digest);
    expect(new Set([base.digest, other, digest]).size).toBe(3);
    expect(await builds.find(digest)).toEqual({ digest, settings });
    expect(await builds.list()).toEqual([LAYERS[0]]);
    const spec = from('configured', digest, false);
    await subject.driver.create(spec, signal());
    await builds.remove(LAYERS[0]);
    expect(await builds.list()).toEqual([]);
    await subject.driver.start(spec, signal()); // the sandbox holds its image
    await subject.driver.remove(spec.id);
  });

  it('makes images of stopped sandboxes, which continue from them', async () => {
    const { image } = subject.spec('any');
    const base = await builds.base(image, signal());
    const spec = from('built', base.digest, true);
    await subject.driver.create(spec, signal());
    await subject.driver.start(spec, signal());
    await subject.driver.stop(spec.id, 1000);
    const { digest, sizeBytes } = await builds.commit(spec.id, LAYERS[1], signal());
    expect(sizeBytes).toBeGreaterThanOrEqual(0);
    expect(await builds.find(digest)).toMatchObject({ digest, settings: base.settings });
    await subject.driver.start(spec, signal());
    expect(await subject.driver.inspect(spec.id)).toMatchObject({ running: true });
    await subject.driver.remove(spec.id);
    expect(await builds.list()).toEqual([LAYERS[1]]);
    await builds.remove(LAYERS[1]);
    await builds.remove(LAYERS[1]);
    await expect(builds.commit('sbx_absent', LAYERS[0], signal())).rejects.toMatchObject({ code: 'ROOTFS_FAILED' });
    expect(await builds.list()).toEqual([]);
  });
}

function buildsOf({ builds }: SandboxDriver): BuildDriver {
  if (builds === undefined) throw new Error('the driver makes no images');
  return builds;
}
