import { createSecretKey } from 'node:crypto';
import { sealBytes } from '@svc/keys';
import { describeFuzz } from '@svc/testing';
import { expect } from 'vitest';
import { decodeArchive, encodeArchive, type ArchiveKey } from './archive-codec.ts';

const KEY: ArchiveKey = { id: 'arc_one', bytes: Buffer.alloc(32, 1) };
const OTHER: ArchiveKey = { id: 'arc_two', bytes: KEY.bytes };
const random = (sizeBytes: number): Buffer => Buffer.alloc(sizeBytes, 7);

async function encode(content: Buffer, key: ArchiveKey): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const source = async function* (): AsyncGenerator<Buffer> {
    yield content;
  };
  for await (const piece of encodeArchive(source(), key, random)) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

/** The content; null if the archive is refused as damaged. */
async function decode(pieces: readonly Buffer[]): Promise<Buffer | null> {
  const content: Buffer[] = [];
  const source = async function* (): AsyncGenerator<Buffer> {
    yield* pieces;
  };
  try {
    for await (const piece of decodeArchive(source(), KEY)) content.push(Buffer.from(piece));
    return Buffer.concat(content);
  } catch (error) {
    expect(error).toMatchObject({ code: 'ARCHIVE_DAMAGED' });
    return null;
  }
}

const contents = [Buffer.alloc(0), Buffer.from('hello'), Buffer.alloc(2 * 1024 * 1024, 'x')];
const archives = await Promise.all(contents.map((content) => encode(content, KEY)));
const key = createSecretKey(KEY.bytes);

describeFuzz({
  name: 'archives of snapshots',
  corpus: new URL('./corpus/archive/', import.meta.url),
  seeds: [
    ...archives,
    await encode(Buffer.from('hello'), OTHER),
    sealBytes(key, Buffer.from('hello'), 'sandbox-archive:arc_one:1:last', random),
    sealBytes(key, Buffer.from('hello'), 'sandbox-archive:arc_one:0', random),
    '',
  ],
  inputs: 150,
  dictionary: ['\x07\x07\x07\x07', '\x28\xb5\x2f\xfd', '\0\0\0\0'],
  run: async (input) => {
    const content = await decode([input]);
    const cut = Math.floor(input.length / 2);
    expect(await decode([input.subarray(0, cut), input.subarray(cut)])).toEqual(content);
    // Nothing opens but what was sealed, whole and under this name.
    const known = archives.findIndex((archive) => archive.equals(input));
    expect(content === null).toBe(known === -1);
    if (content !== null) expect(content.equals(contents[known] ?? Buffer.alloc(1))).toBe(true);
  },
});
