import { createHash, randomBytes } from 'node:crypto';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { skippedTitle } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const reason = localDriverReason();
const title = 'a file of 1 GiB';
const PIECE = randomBytes(1 << 20);
const PIECES = 1024;
/** Client and platform share this process: allows for the buffers of both and uncollected garbage. */
const MOST_GROWTH_BYTES = 192 << 20;
const LIMIT_MS = 600_000;

/** Peak resident set during the work, minus the one before. */
async function measureGrowth(work: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return most - before;
}

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  let id: string;
  const expected = createHash('sha256');
  for (let index = 0; index < PIECES; index += 1) expected.update(PIECE);
  const sha256 = expected.digest('hex');

  const ask = (method: string, query: string, body: Readable | null = null): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const url = new URL(`/api/containers/${id}/files${query}`, platform.url);
      const asked = httpRequest(url, {
        method,
        headers: { ...platform.owner.headers, 'content-type': 'application/octet-stream' },
      });
      asked.once('response', resolve).once('error', reject);
      if (body === null) asked.end();
      else pipeline(body, asked).catch(reject);
    });
  const pieces = (): Readable =>
    Readable.from(
      (function* repeat() {
        for (let index = 0; index < PIECES; index += 1) yield PIECE;
      })(),
      { objectMode: false },
    );

  beforeAll(async () => {
    platform = await startPlatform({ prepare: 'busybox' });
    const body = { image: 'busybox', resources: { disk_mb: 1400 } };
    const created = await platform.call('POST', '/api/sandboxes?wait_ms=30000', { body });
    expect(created.body['status']).toBe('running');
    id = created.body['id'];
  });
  afterAll(async () => {
    await platform.dispose();
  });

  it(
    'round-trips unchanged, with memory use independent of its size',
    async () => {
      const up = await measureGrowth(async () => {
        const answer = await ask('POST', '?path=/large', pieces());
        const text = (await answer.toArray()).join('');
        expect(JSON.parse(text)).toMatchObject({ size: PIECES * PIECE.length, sha256 });
      });
      const down = await measureGrowth(async () => {
        const hash = createHash('sha256');
        await pipeline(await ask('GET', '?path=/large'), hash);
        expect(hash.digest('hex')).toBe(sha256);
      });
      for (const growth of [up, down]) expect(growth).toBeLessThan(MOST_GROWTH_BYTES);
    },
    LIMIT_MS,
  );
});
