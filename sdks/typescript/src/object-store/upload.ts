import { ApiError, NetworkError } from '../errors.ts';
import { pause } from '../passing-failures.ts';
import { forEachParallel, partsOfBlob, partsOfStream, type BodyPart } from './body-parts.ts';
import { bodySizeBytes, type BodySender } from './body-sender.ts';
import type { StoreTransport } from './envelope.ts';
import { sendBody, type MultipartClient, type UploadRef } from './multipart.ts';
import type { ObjectAttributes, UploadedObject, UploadPart } from './object-types.ts';

const MiB = 1024 * 1024;
const DEFAULT_PART_BYTES = 16 * MiB;
const MOST_PARTS = 10_000;
const TRIES = 4;
/** Signal for uploads that the caller cannot abort. */
const NEVER = (): AbortSignal => new AbortController().signal;

/** A body to upload. */
export type UploadBody = Blob | Uint8Array<ArrayBuffer> | string | ReadableStream<Uint8Array>;

/** Options of an upload. */
export interface UploadOptions extends ObjectAttributes {
  signal?: AbortSignal | undefined;
  /** Called with the number of bytes sent; parts from an earlier attempt count from the start. */
  onProgress?: ((sentBytes: number) => void) | undefined;
  /**
   * Bodies larger than this are uploaded in parts of this size. Defaults to 16 MiB, or more if 10,000 parts would not
   * suffice.
   */
  partSizeBytes?: number | undefined;
  /** Number of parallel parts. Defaults to 4. */
  concurrency?: number | undefined;
  /** Called when a multipart upload starts. Keep the id to resume after an interruption. */
  onStart?: ((uploadId: string) => void) | undefined;
  /** Resumes this upload; the body and `partSizeBytes` must be the same as before. */
  resume?: { uploadId: string } | undefined;
  /** Keeps the parts after a failure, so that the upload can be resumed. By default they are removed. */
  keepOnFailure?: boolean | undefined;
  /** Uploads only if the key does not exist. Only for uploads in one request. */
  ifNoneMatch?: '*' | undefined;
}

/** Dependencies of `uploadBody`. */
export interface UploadParts {
  store: StoreTransport;
  bucket: string;
  sender: BodySender;
  multipart: MultipartClient;
}

/**
 * Uploads a body in one request, or in parallel parts if it is larger than one part or `resume` is set. Each body is
 * sent up to four times if the connection or the platform (429, 500, 503) fails. After a failure, the parts are removed
 * unless `keepOnFailure` or `resume` is set.
 */
export async function uploadBody(
  parts: UploadParts,
  key: string,
  body: UploadBody,
  options: UploadOptions,
): Promise<UploadedObject> {
  if (body instanceof ReadableStream) {
    const partSizeBytes = options.partSizeBytes ?? DEFAULT_PART_BYTES;
    const pieces = partsOfStream(body, partSizeBytes);
    const first = await pieces.next();
    if (first.done !== true && bodySizeBytes(first.value.body) < partSizeBytes && options.resume === undefined) {
      await pieces.return();
      return await putWhole(parts, key, first.value.body, options);
    }
    return await putInParts(parts, key, startingWith(first, pieces), options);
  }
  const blob = body instanceof Blob ? body : new Blob([body]);
  const partSizeBytes = options.partSizeBytes ?? Math.max(DEFAULT_PART_BYTES, Math.ceil(blob.size / MOST_PARTS));
  if (blob.size <= partSizeBytes && options.resume === undefined) return await putWhole(parts, key, blob, options);
  return await putInParts(parts, key, partsOfBlob(blob, partSizeBytes), options);
}

function putWhole(
  { store, bucket, sender }: UploadParts,
  key: string,
  body: BodyPart['body'],
  options: UploadOptions,
): Promise<UploadedObject> {
  const target = store.prepare('PUT /buckets/{name}/objects/content', {
    parameters: { name: bucket },
    query: { key },
  });
  const headers = attributeHeaders(options);
  const signal = options.signal ?? NEVER();
  const onProgress = options.onProgress ?? (() => undefined);
  return withRetries(signal, () => sendBody(store, sender, target, { headers, body, signal, onProgress }));
}

async function putInParts(
  { multipart }: UploadParts,
  key: string,
  pieces: Iterable<BodyPart> | AsyncIterable<BodyPart>,
  options: UploadOptions,
): Promise<UploadedObject> {
  const { signal = NEVER(), resume, concurrency = 4 } = options;
  const { uploadId } = resume ?? (await multipart.start(key, options, { signal }));
  if (resume === undefined) options.onStart?.(uploadId);
  const upload: UploadRef = { key, uploadId };
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const progress = new Progress(options.onProgress);
  const arrived = new Map<number, UploadPart>();
  try {
    if (resume !== undefined)
      for await (const part of multipart.parts(upload, { signal })) arrived.set(part.partNumber, part);
    await forEachParallel(pieces, concurrency, async ({ partNumber, body }) => {
      const sizeBytes = bodySizeBytes(body);
      const onProgress = (sentBytes: number): void => progress.set(partNumber, sentBytes);
      if (arrived.get(partNumber)?.size !== sizeBytes) {
        const send = () => multipart.part(upload, partNumber, { body, signal: either, onProgress });
        arrived.set(
          partNumber,
          await withRetries(either, send).catch((error: unknown) => {
            failed.abort(error);
            throw error;
          }),
        );
      }
      onProgress(sizeBytes);
    });
    const ordered = [...arrived.values()].sort((left, right) => left.partNumber - right.partNumber);
    return await withRetries(signal, () => multipart.complete(upload, ordered, { signal }));
  } catch (error) {
    if (options.keepOnFailure !== true && resume === undefined) await multipart.abort(upload).catch(() => undefined);
    throw error;
  }
}

/** Sums progress over parts, some of which may be retried. */
class Progress {
  readonly #report: ((sentBytes: number) => void) | undefined;
  readonly #sent = new Map<number, number>();
  #totalBytes = 0;

  constructor(report: ((sentBytes: number) => void) | undefined) {
    this.#report = report;
  }

  set(partNumber: number, sentBytes: number): void {
    this.#totalBytes += sentBytes - (this.#sent.get(partNumber) ?? 0);
    this.#sent.set(partNumber, sentBytes);
    this.#report?.(this.#totalBytes);
  }
}

/** Retries broken connections and a busy platform, but not refusals. */
async function withRetries<Answer>(signal: AbortSignal, attempt: () => Promise<Answer>): Promise<Answer> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (tried >= TRIES || !isPassing(error)) throw error;
      const asked = error instanceof ApiError ? error.retryAfterSeconds : null;
      await pause(Math.min((asked ?? 0.25 * 2 ** tried) * 1000, 30_000), signal);
    }
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof NetworkError) return true;
  return error instanceof ApiError && (error.status === 429 || error.status === 500 || error.status === 503);
}

function attributeHeaders({ contentType, cacheControl, metadata, ifNoneMatch }: UploadOptions): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': contentType ?? 'application/octet-stream' };
  if (cacheControl !== undefined) headers['cache-control'] = cacheControl;
  if (ifNoneMatch !== undefined) headers['if-none-match'] = ifNoneMatch;
  for (const [name, value] of Object.entries(metadata ?? {})) headers[`x-amz-meta-${name}`] = value;
  return headers;
}

async function* startingWith(
  first: IteratorResult<BodyPart, void>,
  rest: AsyncGenerator<BodyPart, void>,
): AsyncGenerator<BodyPart, void> {
  try {
    if (first.done !== true) yield first.value;
    yield* rest;
  } finally {
    await rest.return();
  }
}
