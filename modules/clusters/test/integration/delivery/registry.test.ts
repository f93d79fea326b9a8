import { createHash, randomBytes } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packTestImage, type PackedImage } from '../../support/image-archive.ts';
import { startRig, type Rig } from '../../support/rig.ts';

const INDEX = 'application/vnd.oci.image.index.v1+json';
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const digestOf = (content: Buffer): string => `sha256:${createHash('sha256').update(content).digest('hex')}`;

interface Got {
  status: number;
  headers: Headers;
  content: Buffer;
  json: () => unknown;
}

describe('the agent image served by the platform', () => {
  let folder: TemporaryFolder;
  let rig: Rig;
  let amd64: PackedImage;
  let arm64: PackedImage;
  beforeEach(async () => {
    folder = await temporaryFolder();
    amd64 = await packTestImage('amd64', '1.0', randomBytes(300_000));
    arm64 = await packTestImage('arm64', '1.0', randomBytes(1000));
    rig = await startRig({ agentImagesFolder: folder.path });
  });
  afterEach(async () => {
    await rig.close();
    await folder.remove();
  });

  /** Like an operator copying an archive there: the final name never holds a partial file. */
  const stock = async (architecture: string, archive: Buffer): Promise<void> => {
    const file = join(folder.path, `svc-agent-${architecture}.tar`);
    await writeFile(`${file}.part`, archive);
    await rename(`${file}.part`, file);
  };
  const get = async (path: string, init: RequestInit = {}): Promise<Got> => {
    const response = await fetch(`${rig.url}${path}`, init);
    const content = Buffer.from(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, content, json: () => JSON.parse(String(content)) };
  };
  const refusal = async (path: string, init: RequestInit = {}): Promise<unknown[]> => {
    const { status, json } = await get(path, init);
    const { errors } = json() as { errors: { code: string; message: string }[] };
    return [status, errors[0]?.code, errors[0]?.message];
  };

  it('is pulled by tag: one multi-platform index, and manifests and blobs by digest', async () => {
    await stock('amd64', amd64.archive);
    await stock('arm64', arm64.archive);
    const version = await get('/v2/');
    expect([version.status, version.headers.get('docker-distribution-api-version')]).toEqual([200, 'registry/2.0']);
    // Other images of the platform need a credential. Some clients then send an empty one for this image too.
    expect(version.headers.get('www-authenticate')).toMatch(/^Basic /);
    const empty = { headers: { authorization: `Basic ${Buffer.from(':').toString('base64')}` } };
    expect((await get('/v2/svc-agent/manifests/1.0', empty)).status).toBe(200);
    expect((await get('/v2/svc-agent/tags/list')).json()).toEqual({ name: 'svc-agent', tags: ['1.0'] });

    const tagged = await get('/v2/svc-agent/manifests/1.0', { headers: { accept: `${INDEX}, ${MANIFEST}` } });
    expect([tagged.status, tagged.headers.get('content-type')]).toEqual([200, INDEX]);
    const digest = digestOf(tagged.content);
    expect(tagged.headers.get('docker-content-digest')).toBe(digest);
    expect((await get(`/v2/svc-agent/manifests/${digest}`)).content.equals(tagged.content)).toBe(true);
    const { manifests } = tagged.json() as { manifests: { digest: string; size: number; platform: unknown }[] };
    expect(manifests.map(({ digest: each, platform }) => [each, platform])).toEqual([
      [amd64.manifestDigest, { os: 'linux', architecture: 'amd64' }],
      [arm64.manifestDigest, { os: 'linux', architecture: 'arm64' }],
    ]);
    for (const each of manifests) {
      const manifest = await get(`/v2/svc-agent/manifests/${each.digest}`);
      expect(manifest.headers.get('content-type')).toBe(MANIFEST);
      expect([digestOf(manifest.content), manifest.content.length]).toEqual([each.digest, each.size]);
      const { config, layers } = manifest.json() as { config: { digest: string }; layers: { digest: string }[] };
      for (const blob of [config, ...layers]) {
        const answer = await get(`/v2/svc-agent/blobs/${blob.digest}`);
        expect(digestOf(answer.content)).toBe(blob.digest);
        expect(answer.headers.get('docker-content-digest')).toBe(blob.digest);
      }
    }
  });

  it('answers HEAD with the length only, and range requests for blobs', async () => {
    await stock('amd64', amd64.archive);
    const blob = `/v2/svc-agent/blobs/${amd64.layerDigest}`;
    const manifest = await get('/v2/svc-agent/manifests/1.0');
    for (const [path, length] of [
      [blob, amd64.layer.length],
      ['/v2/svc-agent/manifests/1.0', manifest.content.length],
    ] as const) {
      const head = await get(path, { method: 'HEAD' });
      const said = [head.status, head.content.length, head.headers.get('content-length')];
      expect(said).toEqual([200, 0, String(length)]);
    }
    const ranges: readonly (readonly [string, number, number])[] = [
      ['bytes=10-19', 10, 20],
      ['bytes=299990-', 299_990, 300_000],
      ['bytes=299990-900000', 299_990, 300_000],
      ['bytes=-5', 299_995, 300_000],
    ];
    for (const [range, from, to] of ranges) {
      const part = await get(blob, { headers: { range } });
      expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes ${from}-${to - 1}/300000`]);
      expect(part.content.equals(amd64.layer.subarray(from, to)), range).toBe(true);
    }
    const behind = await get(blob, { headers: { range: 'bytes=300000-' } });
    expect([behind.status, behind.headers.get('content-range')]).toEqual([416, 'bytes */300000']);
  });

  it('returns registry error codes for missing content', async () => {
    expect(await refusal('/v2/svc-agent/manifests/1.0')).toEqual([
      404,
      'MANIFEST_UNKNOWN',
      'The platform has no agent image 1.0: it has none; run svc agent image --data FOLDER to build it',
    ]);
    await stock('amd64', amd64.archive);
    const missing = await refusal('/v2/svc-agent/manifests/2.0');
    expect(missing).toEqual([404, 'MANIFEST_UNKNOWN', expect.stringContaining('it holds 1.0') as string]);
    expect(await refusal(`/v2/svc-agent/blobs/sha256:${'0'.repeat(64)}`)).toContain('BLOB_UNKNOWN');
    expect(await refusal('/v2/svc-agent/blobs/..%2F..%2Fowner.json')).toContain('BLOB_UNKNOWN');
    expect(await refusal('/v2/nginx/manifests/latest')).toContain('NAME_UNKNOWN');
    expect((await get('/v2/svc-agent/manifests/1.0', { method: 'PUT', body: '{}' })).status).toBe(405);
  });

  it('picks up a replaced archive at once, and ignores a damaged one or one for another processor', async () => {
    await stock('amd64', amd64.archive);
    expect((await get(`/v2/svc-agent/blobs/${amd64.layerDigest}`)).status).toBe(200);
    const next = await packTestImage('amd64', '1.1', randomBytes(500));
    await stock('amd64', next.archive);
    expect((await get('/v2/svc-agent/tags/list')).json()).toEqual({ name: 'svc-agent', tags: ['1.1'] });
    expect((await get(`/v2/svc-agent/blobs/${amd64.layerDigest}`)).status).toBe(404);

    const damaged = Buffer.from(next.archive);
    const at = damaged.indexOf(next.layer);
    damaged.writeUInt8(damaged.readUInt8(at) ^ 1, at);
    for (const archive of [damaged, next.archive.subarray(0, 2000), Buffer.from('no archive'), arm64.archive]) {
      await stock('amd64', archive);
      expect((await get('/v2/svc-agent/tags/list')).json()).toEqual({ name: 'svc-agent', tags: [] });
      expect((await get('/v1/agent/images/amd64')).status).toBe(404);
    }
  });

  it("is also served as one archive, by the node's name for its processor", async () => {
    await stock('arm64', arm64.archive);
    const answer = await get('/v1/agent/images/aarch64');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/x-tar']);
    expect(answer.content.equals(arm64.archive)).toBe(true);
    const missing = await get('/v1/agent/images/x86_64');
    expect(missing.status).toBe(404);
    expect(missing.json()).toMatchObject({ error: { code: 'IMAGE_NOT_FOUND' } });
    expect((await get('/v1/agent/images/riscv64')).status).toBe(400);
  });

  it('is named in the install commands if nodes can pull it', async () => {
    const before = await rig.call('POST', '/v1/clusters', { body: { name: 'before' } });
    expect(before.body['install']).toMatchObject({ image: { available: false } });
    await stock('amd64', amd64.archive);
    const { body } = await rig.call('POST', '/v1/clusters', { body: { name: 'after' } });
    const install = body['install'] as { helm: string; image: unknown };
    expect(install.image).toBeNull();
    expect(install.helm).toContain('image.repository=platform.example/svc-agent');
    expect(String((await get('/v1/agent/svc-agent.yaml')).content)).toMatch(
      /^ *image: "platform\.example\/svc-agent:0\.1\.0"$/m,
    );
  });

  it('is imported on the nodes by a command if they cannot pull it', async () => {
    await using plain = await startedAt('http://10.0.0.5:4000');
    await stock('amd64', amd64.archive);
    const { body } = await plain.rig.call('POST', '/v1/clusters', { body: { name: 'production' } });
    const install = body['install'] as { helm: string; image: unknown };
    expect(install.image).toEqual({
      command: 'curl -fsSL http://10.0.0.5:4000/v1/agent/images/"$(uname -m)" | ctr -n k8s.io images import -\n',
      available: true,
    });
    expect(install.helm).not.toContain('image.repository');
  });

  const startedAt = async (publicUrl: string): Promise<AsyncDisposable & { rig: Rig }> => {
    const other = await startRig({ publicUrl, agentImagesFolder: folder.path });
    return { rig: other, [Symbol.asyncDispose]: () => other.close() };
  };
});
