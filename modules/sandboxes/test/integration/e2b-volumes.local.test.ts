import { skippedTitle } from '@svc/testing';
import { Sandbox, Volume } from 'e2b';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const reason = localDriverReason();
const title = 'volumes of the E2B SDK';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  const options = (caller = platform.owner) => ({
    apiUrl: `${platform.url}/e2b`,
    sandboxUrl: `${platform.url}/e2b/envd`,
    apiKey: caller.token,
    validateApiKey: false,
  });

  beforeAll(async () => {
    platform = await startPlatform();
  });
  afterAll(() => platform.dispose());

  it('are created, listed, mounted to write, and destroyed', async () => {
    const volume = await Volume.create('data', options());
    expect(await Volume.list(options())).toMatchObject([{ name: 'data', volumeId: volume.volumeId }]);
    const first = await Sandbox.create('base', { ...options(), volumeMounts: { '/data': volume } });
    await first.files.write('/data/file', 'kept');
    expect((await first.getInfo()).volumeMounts).toEqual([{ name: 'data', path: '/data' }]);
    await expect(Sandbox.create('base', { ...options(), volumeMounts: { '/data': 'data' } })).rejects.toThrow(/in use/);
    expect(await first.kill()).toBe(true);
    const second = await Sandbox.create('base', { ...options(), volumeMounts: { '/elsewhere': 'data' } });
    expect(await second.files.read('/elsewhere/file')).toBe('kept');
    await expect(Volume.destroy(volume.volumeId, options())).rejects.toThrow(/mounts it/);
    await second.kill();
    expect(await Volume.destroy(volume.volumeId, options())).toBe(true);
    expect(await Volume.destroy(volume.volumeId, options())).toBe(false);
    expect(await Volume.list(options())).toEqual([]);
  });

  it('of another workspace are hidden', async () => {
    const stranger = platform.access.user('stranger');
    const volume = await Volume.create('mine', options());
    await expect(Volume.getInfo(volume.volumeId, options(stranger))).rejects.toThrow();
    expect(await Volume.destroy(volume.volumeId, options(stranger))).toBe(false);
    expect(await Volume.list(options(stranger))).toEqual([]);
    const mounting = Sandbox.create('base', { ...options(stranger), volumeMounts: { '/data': 'mine' } });
    await expect(mounting).rejects.toThrow(/Volume mine not found/);
    expect((await Volume.getInfo(volume.volumeId, options())).name).toBe('mine');
    await Volume.destroy(volume.volumeId, options());
  });
});
