import { unlessAborted, type Clock } from '@svc/runtime';
import { PieceReader } from '../../../domain/archives/archive-codec.ts';
import { readHeader, writeHeader } from '../../../domain/archives/archive-header.ts';
import { MAX_ROOT_BYTES } from '../../../domain/clusters/pod-capabilities.ts';
import type { ArchiveSource } from '../../../domain/driver.ts';
import { IncomingBytes } from '../../../domain/files/incoming-bytes.ts';
import { TRANSFER_WINDOW_BYTES } from '../../../domain/helper/frames.ts';
import type { HelperConnection } from '../../../domain/helper/helper-connection.ts';
import type { HelperStream, Outcome } from '../../../domain/helper/helper-stream.ts';
import { sandboxErrors } from '../../../errors.ts';
import { outcomeWithin } from './pod-usage.ts';

const MAX_ENTRIES = 2_000_000;
/** A walk over all files, without reading them. */
const MEASURE_LIMIT_MS = 300_000;
/** A helper that sends nothing for this long is not waited for. */
const SILENCE_LIMIT_MS = 60_000;
/** A slow link is waited for, as long as this much arrives on average, but not longer than the last limit. */
const MIN_BYTES_PER_MS = 256;
const FIRST_LIMIT_MS = 120_000;
const LAST_LIMIT_MS = 4 * 3_600_000;

/** What is needed to turn an archive of a root into files again. */
export interface SavedFacts {
  /** Processor architecture of its programs, as Go names it. */
  readonly architecture: string;
}

/** The files of a sandbox, outside of it. Close it after use. */
export interface SavedRoot {
  /** Gives them to a sandbox that has not been started. Throws ROOTFS_FAILED. */
  restore(connection: HelperConnection, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** How much `openRoot` would yield. Throws ROOTFS_FAILED if there is more than a sandbox may have. */
export async function measureRoot(connection: HelperConnection, clock: Clock): Promise<number> {
  const limits = { max_entries: MAX_ENTRIES, max_bytes: MAX_ROOT_BYTES };
  const outcome = await outcomeWithin(MEASURE_LIMIT_MS, connection.call({ op: 'root.measure', ...limits }), clock);
  const { bytes } = resultOf(outcome);
  if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes < 0)
    throw failed('its helper does not say how large it is');
  if (bytes > MAX_ROOT_BYTES) throw failed(`it has more than ${MAX_ROOT_BYTES} bytes`);
  return bytes;
}

export interface OpenedRoot extends SavedFacts {
  /** A tar archive of all files, to be read once. Fails unless it is complete. Chunks belong to the reader. */
  readonly content: AsyncIterable<Uint8Array>;
  /** Ends the transfer. */
  abandon(): void;
}

/**
 * Begins to stream all files of a sandbox. The helper may be anything that runs in a cluster of others: what it sends is
 * limited in size and time.
 */
export async function openRoot(
  connection: HelperConnection,
  maxBytes: number,
  signal: AbortSignal,
  clock: Clock,
): Promise<OpenedRoot> {
  const incoming = new IncomingBytes();
  const begun = Promise.withResolvers<unknown>();
  begun.promise.catch(() => undefined); // a rejection after the last waiter is not unhandled
  const watch = new TransferWatch(clock, signal, (error) => {
    begun.reject(error);
    stream.abandon();
    incoming.end();
  });
  const stream = connection.start(
    { op: 'root.save', max_entries: MAX_ENTRIES, max_bytes: maxBytes },
    {
      windowBytes: TRANSFER_WINDOW_BYTES,
      data: (bytes) => incoming.push(bytes),
      event: (event) => begun.resolve(event['architecture']),
    },
  );
  void stream.outcome.then((outcome) => {
    begun.reject(outcome.ok ? failed('its helper does not name its architecture') : failed(outcome.message));
    incoming.end();
  });
  const abandon = (): void => {
    watch.end();
    stream.abandon();
  };
  try {
    watch.wait();
    const architecture = await begun.promise;
    watch.rest();
    if (typeof architecture !== 'string' || !/^[a-z0-9]{1,20}$/.test(architecture)) {
      throw failed('its helper names no architecture');
    }
    return { architecture, content: contentOf(incoming, stream, watch, maxBytes), abandon };
  } catch (error) {
    abandon();
    throw error;
  }
}

async function* contentOf(
  incoming: IncomingBytes,
  stream: HelperStream,
  watch: TransferWatch,
  maxBytes: number,
): AsyncGenerator<Uint8Array> {
  try {
    watch.wait();
    for await (const chunk of incoming.chunks(stream)) {
      watch.rest();
      if (incoming.totalBytes > maxBytes) throw failed(`it sent more than the ${maxBytes} bytes that it has`);
      yield Buffer.from(chunk); // a chunk is valid until the next one is requested, but a compressor holds several
      watch.wait(incoming.totalBytes);
    }
    watch.rest();
    resultOf(await stream.outcome);
  } finally {
    watch.end();
    stream.abandon();
  }
}

/** Limits how long a helper is waited for. Time that the reader takes does not count. */
class TransferWatch {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #onFailure: (error: unknown) => void;
  readonly #abort = (): void => this.#fail(this.#signal.reason);
  #failure: { readonly error: unknown } | null = null;
  #waitedMs = 0;
  #waitsSinceMs: number | null = null;
  #cancelTimer = (): void => undefined;

  constructor(clock: Clock, signal: AbortSignal, onFailure: (error: unknown) => void) {
    this.#clock = clock;
    this.#signal = signal;
    this.#onFailure = onFailure;
    signal.addEventListener('abort', this.#abort, { once: true });
  }

  /** The helper is waited for, which has sent so much. */
  wait(receivedBytes = 0): void {
    if (this.#signal.aborted) this.#abort();
    const limitMs = Math.min(LAST_LIMIT_MS, FIRST_LIMIT_MS + receivedBytes / MIN_BYTES_PER_MS);
    const leftMs = Math.max(0, Math.min(SILENCE_LIMIT_MS, limitMs - this.#waitedMs));
    this.#waitsSinceMs = this.#clock.nowMs();
    this.#cancelTimer = this.#clock.setTimer(() => this.#fail(failed('its files arrive too slowly')), leftMs);
  }

  /** The helper is not waited for now. Throws if the transfer has failed. */
  rest(): void {
    this.#cancelTimer();
    this.#waitedMs += this.#clock.nowMs() - (this.#waitsSinceMs ?? this.#clock.nowMs());
    this.#waitsSinceMs = null;
    if (this.#failure !== null) throw this.#failure.error;
  }

  end(): void {
    this.#cancelTimer();
    this.#signal.removeEventListener('abort', this.#abort);
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#onFailure(error);
  }
}

/** What an archive of a root is: the facts, then the files. */
export async function* archiveOf(facts: SavedFacts, content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield writeHeader({ architecture: facts.architecture });
  yield* content;
}

/** Reads as far as the facts. The signal ends every read, also one that the engine leaves unanswered. */
export async function openArchive(archive: ArchiveSource, signal: AbortSignal): Promise<SavedRoot> {
  const reader = new PieceReader(untilAborted(archive.open(), signal));
  try {
    const saved = (await readHeader(reader)) as SavedFacts; // written by `archiveOf`, and sealed since
    return {
      restore: (connection, until) => restoreRoot(connection, saved, reader.rest(), until),
      close: () => reader.close(),
    };
  } catch (error) {
    await reader.close();
    throw error;
  }
}

/** Throws the signal's reason once it aborts. The source ends as soon as the read that is under way does. */
function untilAborted(source: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncIterable<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  const inTime = <Read>(reading: Promise<Read>): Promise<Read> =>
    unlessAborted(reading, signal, () => signal.reason as Error); // the caller's own
  return {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        signal.throwIfAborted();
        return inTime(chunks.next());
      },
      return: async () => {
        await inTime(Promise.resolve(chunks.return?.()));
        return { done: true, value: undefined };
      },
    }),
  };
}

/**
 * Throws ROOTFS_FAILED. If the signal aborts, cuts the connection, because a helper may neither read nor answer, and leaves a
 * source that does not answer either.
 */
export async function restoreRoot(
  connection: HelperConnection,
  { architecture }: SavedFacts,
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  if (!connection.has('root')) throw failed('the image of the helper is too old for snapshots');
  signal.throwIfAborted();
  const cut = (): void => void connection.close(); // never rejects
  signal.addEventListener('abort', cut, { once: true });
  const stream = connection.start(
    { op: 'root.restore', architecture, max_entries: MAX_ENTRIES, max_bytes: MAX_ROOT_BYTES },
    { inputWindowBytes: TRANSFER_WINDOW_BYTES },
  );
  try {
    for await (const chunk of untilAborted(content, signal)) {
      if (!(await stream.write(Buffer.from(chunk)))) break; // the outcome says why
    }
    stream.finishInput();
    const outcome = await stream.outcome;
    signal.throwIfAborted();
    resultOf(outcome);
  } finally {
    signal.removeEventListener('abort', cut);
    stream.abandon();
  }
}

function resultOf(outcome: Outcome): Readonly<Record<string, unknown>> {
  if (outcome.ok) return outcome.result;
  throw failed(outcome.message);
}

function failed(reason: string): Error {
  return sandboxErrors.ROOTFS_FAILED({ details: { reason } });
}
