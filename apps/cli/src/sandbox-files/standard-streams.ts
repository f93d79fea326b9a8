import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export function readStandardInput(): ReadableStream<Uint8Array> {
  return Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>; // no encoding is set, so these are bytes
}

/** Writes only the bytes. */
export async function writeStandardOutput(body: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<void> {
  await pipeline(body, process.stdout, { signal, end: false });
}
