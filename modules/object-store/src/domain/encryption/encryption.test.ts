import { createSecretKey, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReadRange } from '../ports/blob-store.ts';
import { SecretBox } from '../secrets/secret-box.ts';
import { ContentKey } from './content-key.ts';
import { openRange, openWhole } from './content-opener.ts';
import { ContentSealer } from './content-sealer.ts';
import {
  createContentKey,
  openContentKey,
  sealContentKey,
  toCustomerKey,
  type EnvelopeTarget,
} from './key-envelope.ts';
import { CHUNK_BYTES, HEADER_BYTES, SEALED_CHUNK_BYTES, sealedBytes } from './sealed-layout.ts';

const key = new ContentKey(randomBytes(32), { isGuarded: false });

function seal(content: Buffer, pieceBytes = content.length || 1): Buffer {
  const sealer = new ContentSealer(key, content.length, randomBytes);
  const sealed: Buffer[] = [];
  for (let start = 0; start < content.length; start += pieceBytes) {
    sealed.push(...sealer.update(content.subarray(start, start + pieceBytes)));
  }
  return Buffer.concat([...sealed, ...sealer.final()]);
}

async function read(sealed: Buffer, sizeBytes: number, range: ReadRange, readBytes = 10_000): Promise<Buffer> {
  const source = async function* (wanted: ReadRange): AsyncGenerator<Uint8Array> {
    const shared = Buffer.alloc(readBytes); // reused for each chunk, like an engine’s buffer
    for (let start = wanted.start; start < wanted.endExclusive; start += readBytes) {
      if (start >= sealed.length) return;
      const length = sealed.copy(shared, 0, start, Math.min(start + readBytes, wanted.endExclusive));
      yield shared.subarray(0, length);
    }
  };
  const opened: Buffer[] = [];
  for await (const piece of openRange({ key, sizeBytes }, range, source)) opened.push(Buffer.from(piece));
  return Buffer.concat(opened);
}

describe('sealed content', () => {
  it.each([0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES])(
    'round-trips %i bytes and has the predicted length',
    async (size) => {
      const content = randomBytes(size);
      const sealed = seal(content, 7_001);
      expect(sealed.length).toBe(sealedBytes(size));
      expect(openWhole({ key, sizeBytes: size }, sealed).equals(content)).toBe(true);
      expect((await read(sealed, size, { start: 0, endExclusive: size })).equals(content)).toBe(true);
    },
  );

  it('reads any range, for any chunking of writes and reads', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 300_000 }),
        fc.integer({ min: 1, max: 200_000 }),
        fc.integer({ min: 1, max: 100_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (size, pieceBytes, readBytes, from, to) => {
          const content = randomBytes(size);
          const start = Math.floor(from * (size - 1));
          const endExclusive = start + 1 + Math.floor(to * (size - start - 1));
          const opened = await read(seal(content, pieceBytes), size, { start, endExclusive }, readBytes);
          expect(opened.equals(content.subarray(start, endExclusive))).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('reads the last byte without reading earlier chunks', async () => {
    const size = 10 * CHUNK_BYTES;
    const content = randomBytes(size);
    const sealed = seal(content);
    sealed.fill(0, HEADER_BYTES, HEADER_BYTES + 9 * SEALED_CHUNK_BYTES);
    const last = await read(sealed, size, { start: size - 1, endExclusive: size });
    expect(last.equals(content.subarray(-1))).toBe(true);
  });

  it('rejects changed, truncated, swapped and repeated chunks', async () => {
    const size = 3 * CHUNK_BYTES;
    const content = randomBytes(size);
    const whole = { start: 0, endExclusive: size };
    const chunk = (sealed: Buffer, index: number): Buffer =>
      sealed.subarray(HEADER_BYTES + index * SEALED_CHUNK_BYTES, HEADER_BYTES + (index + 1) * SEALED_CHUNK_BYTES);
    const flipped = seal(content);
    flipped[HEADER_BYTES + 100_000] = (flipped[HEADER_BYTES + 100_000] ?? 0) ^ 1;
    const swapped = seal(content);
    const first = Buffer.from(chunk(swapped, 0));
    chunk(swapped, 1).copy(chunk(swapped, 0));
    first.copy(chunk(swapped, 1));
    const cut = seal(content).subarray(0, HEADER_BYTES + 2 * SEALED_CHUNK_BYTES);
    for (const damaged of [flipped, swapped, cut]) {
      await expect(read(damaged, size, whole)).rejects.toMatchObject({ code: 'DataLost' });
    }
    // Even if the row's length matches the truncated blob, its last chunk was not sealed as the last one.
    await expect(read(cut, 2 * CHUNK_BYTES, { start: 0, endExclusive: 2 * CHUNK_BYTES })).rejects.toMatchObject({
      code: 'DataLost',
    });
  });

  it('never stores the same content the same way twice', () => {
    const content = Buffer.alloc(1_000, 7);
    expect(seal(content).equals(seal(content))).toBe(false);
    expect(seal(content).includes(content.subarray(0, 32))).toBe(false);
  });
});

describe('data key envelopes', () => {
  const box = new SecretBox(createSecretKey(randomBytes(32)), randomBytes);
  const secrets = {
    seal: async (secret: string, context: string) => box.seal(secret, context),
    open: async (sealed: string, context: string) => box.open(sealed, context),
  };
  const parts = { secrets, random: randomBytes };
  const customerKey = toCustomerKey(randomBytes(32));
  const targets: EnvelopeTarget[] = [
    { mode: 'sse-s3' },
    { mode: 'sse-kms', keyId: 'main' },
    { mode: 'sse-c', customerKey },
  ];

  it.each(targets)('opens its own envelope for $mode', async (target) => {
    const content = createContentKey(parts, target.mode);
    const encryption = await sealContentKey(parts, content, target);
    const opened = await openContentKey(parts, encryption, target.mode === 'sse-c' ? customerKey : null);
    expect(opened?.bytes().equals(content.bytes())).toBe(true);
    expect(JSON.stringify(encryption)).not.toContain(content.bytes().toString('base64'));
  });

  it('does not open without the customer’s key, or with another one', async () => {
    const encryption = await sealContentKey(parts, createContentKey(parts, 'sse-c'), { mode: 'sse-c', customerKey });
    expect(await openContentKey(parts, encryption, toCustomerKey(randomBytes(32)))).toBeNull();
    expect(await openContentKey(parts, encryption, null)).toBeNull();
    expect(await openContentKey(parts, { ...encryption, sealedKey: 'AAAA' }, customerKey)).toBeNull();
  });

  it('does not reveal whether two customer keys are equal', async () => {
    const content = createContentKey(parts, 'sse-c');
    const one = await sealContentKey(parts, content, { mode: 'sse-c', customerKey });
    const other = await sealContentKey(parts, content, { mode: 'sse-c', customerKey });
    expect(one.sealedKey).not.toBe(other.sealedKey);
    expect(JSON.stringify(one)).not.toContain(customerKey.md5);
  });

  it('binds a key of the store to its name', async () => {
    const encryption = await sealContentKey(parts, createContentKey(parts, 'sse-kms'), {
      mode: 'sse-kms',
      keyId: 'main',
    });
    const renamed = openContentKey(parts, { ...encryption, keyId: 'other' }, null);
    await expect(renamed).rejects.toThrow('does not decrypt');
  });

  it('creates ETags that reveal nothing where the digest must stay hidden', async () => {
    const md5 = randomBytes(16);
    expect(createContentKey(parts, 'sse-s3').entityTag(md5)).toBe(md5.toString('hex'));
    const hidden = createContentKey(parts, 'sse-c').entityTag(md5);
    expect(hidden).toMatch(/^[0-9a-f]{32}$/);
    expect(hidden).not.toBe(md5.toString('hex'));
  });
});
