import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RemoteFiles } from '@svc/sdk';
import type { BodyProgress } from '../transfer/progress.ts';

/** Permissions of owner, group and others only; setuid is never copied. */
const PERMISSIONS = 0o777;

/** Uploads a file atomically. Returns the number of bytes. */
export async function uploadFile(
  files: RemoteFiles,
  source: string,
  path: string,
  progress: BodyProgress,
  signal: AbortSignal,
): Promise<number> {
  const file = await open(source);
  try {
    const { mode, size } = await file.stat();
    const bytes = counted(file.createReadStream({ autoClose: false, highWaterMark: 256 * 1024 }), progress);
    const body = Readable.toWeb(Readable.from(bytes)) as ReadableStream<Uint8Array>; // buffers, as read
    await files.write(path, body, { mode: octal(mode), signal });
    return size;
  } finally {
    await file.close();
  }
}

/** Downloads a file atomically. `mode` is that of the remote file. */
export async function downloadFile(
  files: RemoteFiles,
  path: string,
  target: string,
  mode: number,
  progress: BodyProgress,
  signal: AbortSignal,
): Promise<number> {
  await mkdir(dirname(target), { recursive: true });
  const staging = join(dirname(target), `.${basename(target).slice(0, 100)}.${randomUUID()}`);
  let sizeBytes = 0;
  try {
    const { body } = await files.read(path, { signal });
    const source = Readable.fromWeb(body);
    const count = (bytes: number): void => {
      sizeBytes += bytes;
      progress.add(bytes);
    };
    await pipeline(
      source,
      (chunks: AsyncIterable<Uint8Array>) => counted(chunks, { ...progress, add: count }),
      createWriteStream(staging, { flags: 'wx', mode: mode & PERMISSIONS }),
      { signal },
    );
    await rename(staging, target);
    return sizeBytes;
  } catch (error) {
    await rm(staging, { force: true });
    throw error;
  }
}

async function* counted(chunks: AsyncIterable<Uint8Array>, progress: BodyProgress): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of chunks) {
    progress.add(chunk.length);
    yield chunk;
  }
}

function octal(mode: number): string {
  return (mode & PERMISSIONS).toString(8).padStart(4, '0');
}
