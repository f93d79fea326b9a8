import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startRig, testConfig, type Rig } from '../../support/rig.ts';
import { parseImage } from '../../../src/domain/agent-image.ts';
import { CHART_PATH, MANIFEST_PATH } from '../../../src/adapters/delivery/agent-delivery.ts';

const CHART = fileURLToPath(new URL('../../../../../deploy/helm/svc-agent', import.meta.url));
const IMAGE = 'registry.example:5000/team/svc-agent:1.2';

describe('agent installation', () => {
  let rig: Rig;
  beforeEach(async () => {
    const { install } = testConfig();
    rig = await startRig({ config: { install: { ...install, image: IMAGE } } });
  });
  afterEach(() => rig.close());

  it("names the chart's address at the platform and the configured image", async () => {
    const { body } = await rig.call('POST', '/v1/clusters', { body: { name: 'production' } });
    const { helm, kubectl } = body['install'] as { helm: string; kubectl: string };
    expect(helm).toContain(`helm upgrade --install svc-agent https://platform.example${CHART_PATH} `);
    expect(helm).toContain('image.repository=registry.example:5000/team/svc-agent');
    expect(kubectl).toContain(`-f https://platform.example${MANIFEST_PATH}`);
  });

  it('serves the chart of this version, without a token and reproducible byte for byte', async () => {
    const answer = await fetch(`${rig.url}${CHART_PATH}`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/gzip');
    const packed = Buffer.from(await answer.arrayBuffer());
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'chart.tgz');
    await writeFile(file, packed);
    execFileSync('tar', ['-xzf', file, '-C', folder.path]);
    execFileSync('diff', ['-r', CHART, join(folder.path, 'svc-agent')]);
    const again = Buffer.from(await (await fetch(`${rig.url}${CHART_PATH}`)).arrayBuffer());
    expect(again.equals(packed)).toBe(true);
  });

  it('packs the chart once, supports its ETag, and rate-limits by address', async () => {
    const first = await fetch(`${rig.url}${CHART_PATH}`);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    await first.arrayBuffer();
    const again = await fetch(`${rig.url}${CHART_PATH}`, { headers: { 'if-none-match': etag } });
    expect([again.status, (await again.arrayBuffer()).byteLength, again.headers.get('etag')]).toEqual([304, 0, etag]);
    const manifest = await fetch(`${rig.url}${MANIFEST_PATH}`);
    await manifest.arrayBuffer();
    for (const { headers } of [first, again, manifest]) expect(headers.get('x-ratelimit-limit')).toBe('120');
  });

  it('serves the plain manifest with only the image replaced', async () => {
    const answer = await fetch(`${rig.url}${MANIFEST_PATH}`);
    expect(answer.headers.get('content-type')).toMatch(/^application\/yaml/);
    const original = await readFile(join(CHART, '../../kubernetes/svc-agent.yaml'), 'utf8');
    const served = await answer.text();
    const changed = served.split('\n').filter((line, index) => line !== original.split('\n')[index]);
    expect(changed).toEqual([`          image: "${IMAGE}"`]);
  });
});

describe('parseImage', () => {
  it('splits a reference', () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    expect(parseImage('localhost/svc-agent')).toEqual({ repository: 'localhost/svc-agent', tag: '', digest: '' });
    expect(parseImage(IMAGE)).toEqual({ repository: 'registry.example:5000/team/svc-agent', tag: '1.2', digest: '' });
    expect(parseImage(`ghcr.example/svc/agent:v1@${digest}`)).toEqual({
      repository: 'ghcr.example/svc/agent',
      tag: 'v1',
      digest,
    });
  });

  it('returns nothing for an empty or invalid reference', () => {
    for (const reference of ['', 'UPPER/case', 'a b', 'name:', 'name@sha256:12', 'name"\nkind: Secret', '/name']) {
      expect(parseImage(reference), reference).toBeNull();
    }
  });
});
