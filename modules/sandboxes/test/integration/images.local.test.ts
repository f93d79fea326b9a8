import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findCommand, requirement, skippedTitle, temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { faultyProxy, type FaultyProxy } from '../support/faulty-proxy.ts';
import { startRegistry, type RegistryServer } from '../support/registry-server.ts';

const reason = localDriverReason() ?? requirement('command:docker-registry');
const title = 'sandboxes of pulled images';

const folders = ['proc', 'sys', 'dev', 'tmp', 'root'].map((name) => ({ name, type: 'folder' as const }));
const system = () => ({
  entries: [
    ...folders,
    { name: 'bin/busybox', content: readFileSync(findCommand('busybox') ?? ''), mode: 0o755 },
    ...['sh', 'ls', 'cat', 'grep', 'stat', 'rm'].map((name) => ({
      name: `bin/${name}`,
      type: 'symlink' as const,
      target: 'busybox',
    })),
    { name: 'etc/passwd', content: 'root:x:0:0:root:/root:/bin/sh\n' },
    { name: 'data/old', content: 'old' },
    { name: 'data/kept', content: 'kept' },
    { name: 'opt/lower', content: 'lower' },
    { name: 'owned', content: 'by 1000', uid: 1000, gid: 1000, mode: 0o640 },
  ],
});
const changes = {
  entries: [{ name: 'data/.wh.old' }, { name: 'opt/.wh..wh..opq' }, { name: 'opt/upper', content: 'upper' }],
};
const program = {
  entries: [{ name: 'srv/bin/hello', content: '#!/bin/sh\necho "hello $LEVEL from $PWD"\n', mode: 0o755 }],
};

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let registry: RegistryServer;
  let proxy: FaultyProxy;
  let cache: TemporaryFolder;
  let platform: TestPlatform;

  beforeAll(async () => {
    registry = await startRegistry();
    proxy = await faultyProxy(registry.host);
    cache = await temporaryFolder('svc-images-');
    const config = { Env: ['PATH=/srv/bin:/bin', 'LEVEL=3'], WorkingDir: '/srv' };
    const layers = [system(), { ...changes, compression: 'zstd' as const }, program];
    await registry.push('app', '1', { layers, config });
    const ownLayer = { entries: [{ name: 'srv/slow', content: 'slow' }] }; // held back, even if the others are here already
    await registry.push('slow', '1', { layers: [...layers, ownLayer], config });
    const image = (name: string, host: string) => ({
      name,
      sources: [{ kind: 'registry' as const, reference: `${host}/${name}:1` }],
    });
    const images = [
      image('app', registry.host),
      image('slow', proxy.host),
      image('absent', registry.host),
      image('deep', registry.host),
    ];
    platform = await startPlatform({
      config: { image_cache: cache.path, images, default_image: 'app' },
      prepare: 'app',
    });
  });
  afterAll(async () => {
    await platform?.dispose();
    await proxy?.close();
    await registry?.close();
    await cache?.remove();
  });

  const create = async (image: string, body: object = {}) =>
    platform.call('POST', '/api/containers?wait_ms=30000', { body: { image, ...body } });
  const run = async (id: string, command: string) =>
    (await platform.call('POST', `/api/containers/${id}/exec`, { body: { command } })).body;

  it('merges the layers into one file system, without files that upper layers removed', async () => {
    const { body } = await create('app');
    expect(body).toMatchObject({ status: 'running', image_progress: null });
    expect((await run(body['id'], 'ls /data /opt; cat /opt/upper')).stdout).toBe('/data:\nkept\n\n/opt:\nupper\nupper');
    expect((await run(body['id'], 'stat -c "%u %g %a" /owned /bin/busybox')).stdout).toBe('1000 1000 640\n0 0 755\n');
    expect(await run(body['id'], 'echo new > /opt/upper && rm /data/kept && ls /data')).toMatchObject({
      exit_code: 0,
      stdout: '',
    });
    const other = (await create('app')).body['id'];
    expect((await run(other, 'cat /opt/upper /data/kept')).stdout).toBe('upperkept');
  });

  it("runs commands with the image's environment and working folder, which the caller can override", async () => {
    const { body } = await create('app', { environment: { LEVEL: 'mine' } });
    expect((await run(body['id'], 'hello')).stdout).toBe('hello mine from /srv\n');
    const plain = (await create('app')).body['id'];
    expect((await run(plain, 'hello')).stdout).toBe('hello 3 from /srv\n');
    const elsewhere = { command: 'hello', workdir: '/', env: { LEVEL: '4' } };
    expect((await platform.call('POST', `/api/containers/${plain}/exec`, { body: elsewhere })).body['stdout']).toBe(
      'hello 4 from /\n',
    );
  });

  it('supports images with many layers', async () => {
    const more = Array.from({ length: 40 }, (_, index) => ({
      entries: [
        { name: `etc/layer-${index}`, content: `${index}` },
        { name: 'etc/last', content: `${index}` },
      ],
    }));
    await registry.push('deep', '1', { layers: [system(), ...more] });
    await platform.module.prepareImage('deep', AbortSignal.timeout(60_000));
    const { body } = await create('deep');
    const { stdout } = await run(body['id'], 'cat /etc/last; echo; ls /etc | grep -c layer-');
    expect(stdout).toBe('39\n40\n');
  });

  it('restarts a stopped sandbox from an image that no name refers to any more', async () => {
    const { body } = await create('app');
    await platform.call('POST', `/api/containers/${body['id']}/stop`);
    await registry.push('app', '1', { layers: [system(), { entries: [{ name: 'newer', content: 'n' }] }] });
    await platform.module.pullImage('app', AbortSignal.timeout(30_000));
    await platform.close();
    await platform.reopen();
    const again = await platform.call('POST', `/api/containers/${body['id']}/start?wait_ms=30000`);
    expect(again.body).toMatchObject({ status: 'running', error: null });
    expect((await run(body['id'], 'cat /opt/upper')).stdout).toBe('upper');
    expect((await run((await create('app')).body['id'], 'cat /newer')).stdout).toBe('n');
  });

  it('removes an image with the last sandbox that uses it', async () => {
    const layers = async () => (await readdir(join(cache.path, 'layers'))).length;
    const before = await layers();
    const listed = await platform.call('GET', '/api/containers?page_size=200');
    for (const { id } of listed.body['containers']) await platform.call('DELETE', `/api/containers/${id}`);
    // The two upper layers of the first image; the second image shares the lowest.
    await waitFor(async () => (await layers()) === before - 2, { timeoutMs: 20_000, description: 'layers to go' });
    // The current image of `app`, and `deep`.
    expect(await readdir(join(cache.path, 'images'))).toHaveLength(2);
  });

  it('reports download progress while a sandbox waits for its image', async () => {
    proxy.hold();
    const { status, body } = await platform.call('POST', '/api/containers?wait_ms=0', { body: { image: 'slow' } });
    expect(status).toBe(202);
    let seen: unknown = null;
    const shown = await waitFor(
      async () => {
        const { body: sandbox } = await platform.call('GET', `/api/containers/${body['id']}`);
        seen = sandbox;
        return sandbox['image_progress']?.stage === 'downloading' && sandbox['image_progress'];
      },
      { timeoutMs: 30_000, description: () => `progress of ${JSON.stringify(seen)}` },
    );
    expect(shown).toMatchObject({ source: expect.stringContaining('/slow:1'), layers: 4 });
    const { images } = (await platform.call('GET', '/api/images?all=true')).body;
    const slow = images.find((image: { name: string }) => image.name === 'slow');
    expect(slow).toMatchObject({ cached: false, progress: { layers: 4 } });
    proxy.release();
    const ready = await platform.call('GET', `/api/containers/${body['id']}?wait_for=running&timeout=30`);
    expect(ready.body).toMatchObject({ status: 'running', image_progress: null });
  });

  it('records which source failed and why', async () => {
    const { body } = await create('absent');
    expect(body).toMatchObject({ status: 'error', state_reason: 'IMAGE_PULL_FAILED', error: { recoverable: true } });
    expect(body['error'].message).toMatch(/registry 127\.0\.0\.1:\d+\/absent:1: .* has no absent\/manifests\/1/);
  });
});
