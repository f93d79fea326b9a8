import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { UnpackFailure } from './layer-unpacker.ts';
import { zstdFrames } from './zstd-frames.ts';

export type Compression = 'none' | 'gzip' | 'zstd' | 'xz' | 'bzip2';

const READ_BYTES = 1024 * 1024;
const OUTPUT_BYTES = 512 * 1024;

/** Magic bytes of each format. */
const MAGIC: readonly (readonly [Compression, Buffer])[] = [
  ['gzip', Buffer.from([0x1f, 0x8b])],
  ['zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd])],
  ['xz', Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00])],
  ['bzip2', Buffer.from('BZh')],
];

/** Detects the compression of a local archive by its first bytes. */
export async function detectCompression(file: string): Promise<Compression> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(8), 0, 8, 0);
    const start = buffer.subarray(0, bytesRead);
    return MAGIC.find(([, magic]) => start.subarray(0, magic.length).equals(magic))?.[0] ?? 'none';
  } finally {
    await handle.close();
  }
}

/** The uncompressed contents of a file. The reader destroys the stream or reads it to its end. */
export function openDecompressed(file: string, compression: Compression): Readable {
  const source = createReadStream(file, { highWaterMark: READ_BYTES });
  switch (compression) {
    case 'none':
      return source;
    case 'gzip':
      return gunzipped(source);
    case 'zstd':
      return Readable.from(zstdFrames(source as AsyncIterable<Buffer>), { objectMode: false });
    case 'xz':
    case 'bzip2':
      return Readable.from(throughProgram(compression, source), { objectMode: false });
  }
}

/**
 * The reader receives errors. The listener covers the time without a reader, when an error from zlib's thread would end
 * the process.
 */
function gunzipped(source: Readable): Readable {
  const gunzip = createGunzip({ chunkSize: OUTPUT_BYTES });
  gunzip.on('error', () => undefined);
  return pipeline(source, gunzip, () => undefined);
}

/** Formats found only in operators' archives, which Node does not support. */
async function* throughProgram(program: string, source: Readable): AsyncGenerator<Buffer> {
  const child = spawn(program, ['-dc'], { stdio: ['pipe', 'pipe', 'ignore'], cwd: '/' });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', (cause) => reject(new UnpackFailure('IO_ERROR', `${program} is not installed`, { cause })));
    child.once('close', (code) => resolve(code));
  });
  ended.catch(() => undefined); // awaited below
  // Its exit code reports unread input.
  pipeline(source, child.stdin, () => undefined);
  try {
    yield* child.stdout as AsyncIterable<Buffer>;
    if ((await ended) !== 0) throw new UnpackFailure('MALFORMED', 'it cannot be decompressed');
  } finally {
    source.destroy();
    child.kill('SIGKILL');
  }
}
