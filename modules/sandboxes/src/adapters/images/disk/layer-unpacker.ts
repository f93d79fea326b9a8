import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Facts about an unpacked layer. */
export interface UnpackedLayer {
  /** SHA-256 of the uncompressed archive, in hexadecimal. */
  readonly digest: string;
  readonly bytes: number;
  readonly entries: number;
}

export interface UnpackLimits {
  readonly maxBytes: number;
  readonly maxEntries: number;
}

export interface UnpackOptions {
  readonly limits: UnpackLimits;
  readonly signal: AbortSignal;
  /** Algorithm of the expected digest; nearly all layers use `sha256`. */
  readonly algorithm?: 'sha256' | 'sha512';
}

/** A layer that was rejected or could not be unpacked on this machine. The message is for people. */
export class UnpackFailure extends Error {
  readonly code: string;

  constructor(code: string, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'UnpackFailure';
    this.code = code;
  }
}

/**
 * Unpacks a tar stream into a folder in overlayfs format. Existing content of the folder must not affect the result.
 */
export type UnpackLayer = (stream: Readable, folder: string, options: UnpackOptions) => Promise<UnpackedLayer>;

const MAX_REPORT_CHARACTERS = 64 * 1024;

/** Unpacks with the helper (`sandbox-agent unpack`), which confines itself to the folder before it reads the stream. */
export function helperUnpacker(binary: () => Promise<string>): UnpackLayer {
  return async (stream, folder, { limits, signal, algorithm = 'sha256' }) => {
    const { maxBytes, maxEntries } = limits;
    const child = spawn(await binary(), ['unpack', folder, String(maxBytes), String(maxEntries)], {
      stdio: ['pipe', 'pipe', 'pipe'],
      signal,
      killSignal: 'SIGKILL',
      cwd: '/',
      env: {},
    });
    const report = gather(child.stdout);
    const complaint = gather(child.stderr);
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code));
    });
    ended.catch(() => undefined); // awaited below, after the stream
    const hash = createHash(algorithm);
    const sent = await pipeline(stream, hashing(hash), child.stdin, { signal }).then(
      () => null,
      (error: unknown) => error,
    );
    // The helper's own report takes precedence: the broken stream is only a consequence.
    const code = await ended.catch((error: unknown) => {
      signal.throwIfAborted(); // an abort looks like a failure of the child
      throw error;
    });
    signal.throwIfAborted();
    const { bytes, entries, error } = readReport(report());
    // Input that cannot be decompressed also ends too early for the unpacker; this tells the two apart.
    const damaged = sent !== null && isDamage(sent);
    if (error !== null && !damaged) throw new UnpackFailure(error.code, error.message);
    if (sent !== null) throw new UnpackFailure('MALFORMED', describeFault(sent), { cause: sent });
    if (code !== 0) throw new UnpackFailure('IO_ERROR', `the unpacker failed: ${complaint().trim() || String(code)}`);
    return { digest: hash.digest('hex'), bytes, entries };
  };
}

/** Passes a stream on and updates the hash with it. */
export function hashing(hash: ReturnType<typeof createHash>) {
  return async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      hash.update(chunk);
      yield chunk;
    }
  };
}

/** Decompression errors have a zlib code and mean that the layer is damaged. */
function isDamage(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return error instanceof UnpackFailure || /^(Z_|ZSTD_|ERR_ZLIB)/.test(code);
}

function describeFault(error: unknown): string {
  if (isDamage(error) && !(error instanceof UnpackFailure)) return 'it cannot be decompressed';
  return error instanceof Error ? error.message : String(error);
}

function gather(output: Readable): () => string {
  let text = '';
  output.setEncoding('utf8').on('data', (part: string) => {
    text = (text + part).slice(0, MAX_REPORT_CHARACTERS);
  });
  return () => text;
}

interface Report {
  readonly bytes: number;
  readonly entries: number;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** One line of JSON from our own helper. */
function readReport(text: string): Report {
  if (text.trim() === '') return { bytes: 0, entries: 0, error: null };
  const report = JSON.parse(text) as Partial<Report>; // native/sandbox-agent/internal/unpack/run.go
  return { bytes: report.bytes ?? 0, entries: report.entries ?? 0, error: report.error ?? null };
}
