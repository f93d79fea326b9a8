import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ArchiveBlobs } from '../../src/domain/archives/archive.ts';

export interface ArchiveBlobsSubject {
  readonly blobs: ArchiveBlobs;
  dispose(): Promise<void>;
}

/** The contract of storage for archives. Call it inside a `describe`. */
export function archiveBlobsContract(make: () => Promise<ArchiveBlobsSubject>): void {
  let subject: ArchiveBlobsSubject;
  beforeEach(async () => {
    subject = await make();
  });
  afterEach(() => subject.dispose());

  const id = (): string => randomBytes(16).toString('hex');
  const store = async (name: string, chunks: readonly Buffer[]): Promise<void> => {
    const writer = await subject.blobs.createAs(name);
    for (const chunk of chunks) await writer.write(Buffer.from(chunk));
    await writer.seal();
  };
  const read = async (name: string, start: number, endExclusive: number): Promise<Buffer> => {
    const found: Buffer[] = [];
    for await (const chunk of subject.blobs.read(name, { start, endExclusive })) found.push(Buffer.from(chunk));
    return Buffer.concat(found);
  };

  it('returns what was written, whole and in part', async () => {
    const chunks = [randomBytes(100), randomBytes(70_000), randomBytes(1)];
    const content = Buffer.concat(chunks);
    const name = id();
    await store(name, chunks);
    expect((await read(name, 0, content.length)).equals(content)).toBe(true);
    expect((await read(name, 99, 70_000)).equals(content.subarray(99, 70_000))).toBe(true);
  });

  it('shows nothing before the seal, and nothing of an aborted write', async () => {
    const name = id();
    const writer = await subject.blobs.createAs(name);
    await writer.write(Buffer.from('content'));
    await expect(read(name, 0, 7)).rejects.toThrow();
    await writer.abort();
    await writer.abort();
    await expect(read(name, 0, 7)).rejects.toThrow();
  });

  it('removes an archive, also if there is none', async () => {
    const name = id();
    await store(name, [Buffer.from('content')]);
    await subject.blobs.remove(name);
    await subject.blobs.remove(name);
    await expect(read(name, 0, 7)).rejects.toThrow();
  });
}
