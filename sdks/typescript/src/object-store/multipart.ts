import { errorOfAnswer } from '../error-body.ts';
import { NetworkError, UnexpectedAnswerError } from '../errors.ts';
import { parseJson } from '../read-body.ts';
import type { CallOptions } from '../transport.ts';
import type { BodySender, SendRequest, SizedBody } from './body-sender.ts';
import { bucketPath, dataOf, type StoreTransport } from './envelope.ts';
import type { ObjectAttributes, PendingUpload, StartedUpload, StoredObject, UploadPart } from './object-types.ts';

export interface BodyCall {
  path: string;
  query: Readonly<Record<string, string | undefined>>;
  headers: Readonly<Record<string, string>>;
  body: SizedBody;
  signal: AbortSignal;
  onProgress: (sentBytes: number) => void;
}

/** Names an upload that has started. */
export interface UploadRef {
  key: string;
  uploadId: string;
}

/** The single steps of an upload in parts; `ObjectsClient.upload` does all of them. */
export class MultipartClient {
  readonly #store: StoreTransport;
  readonly #path: string;
  readonly #sender: BodySender;

  constructor(store: StoreTransport, bucket: string, sender: BodySender) {
    this.#store = store;
    this.#path = `${bucketPath(bucket)}/objects/multipart`;
    this.#sender = sender;
  }

  start(key: string, attributes: ObjectAttributes = {}, options: CallOptions = {}): Promise<StartedUpload> {
    const { contentType: content_type, cacheControl: cache_control, metadata } = attributes;
    const body = { key, content_type, cache_control, metadata };
    return this.#store.call({ method: 'POST', path: this.#path, body, ...options });
  }

  part(
    upload: UploadRef,
    partNumber: number,
    part: Pick<BodyCall, 'body' | 'signal' | 'onProgress'>,
  ): Promise<UploadPart> {
    const path = `${this.#uploadPath(upload)}/parts/${partNumber}`;
    const headers = { 'content-type': 'application/octet-stream' };
    return sendBody(this.#store, this.#sender, { path, query: { key: upload.key }, headers, ...part });
  }

  /** Parts that have arrived; for going on after an interruption. */
  async *parts(upload: UploadRef, options: CallOptions = {}): AsyncGenerator<UploadPart, void> {
    const path = `${this.#uploadPath(upload)}/parts`;
    let cursor: string | undefined;
    do {
      const query = { key: upload.key, cursor };
      const page: { parts: UploadPart[]; cursor?: string | null } = await this.#store.call({
        method: 'GET',
        path,
        query,
        ...options,
      });
      yield* page.parts;
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** Uploads of the bucket that are neither complete nor aborted. */
  async *uploads(prefix?: string, options: CallOptions = {}): AsyncGenerator<PendingUpload, void> {
    let cursor: string | undefined;
    do {
      const query = { prefix, cursor };
      const page: { uploads: PendingUpload[]; cursor?: string | null } = await this.#store.call({
        method: 'GET',
        path: this.#path,
        query,
        ...options,
      });
      yield* page.uploads;
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** May be repeated: the answer is the same. */
  complete(upload: UploadRef, parts: readonly UploadPart[], options: CallOptions = {}): Promise<StoredObject> {
    const body = { parts: parts.map(({ partNumber, etag }) => ({ partNumber, etag })) };
    const query = { key: upload.key };
    return this.#store.call({ method: 'POST', path: `${this.#uploadPath(upload)}/complete`, query, body, ...options });
  }

  /** May be repeated; what had arrived is removed. */
  async abort(upload: UploadRef, options: CallOptions = {}): Promise<void> {
    const query = { key: upload.key };
    await this.#store.call({ method: 'DELETE', path: this.#uploadPath(upload), query, ...options });
  }

  #uploadPath({ uploadId }: UploadRef): string {
    return `${this.#path}/${encodeURIComponent(uploadId)}`;
  }
}

/** One PUT of raw bytes through the sender, with the errors of every other call. */
export async function sendBody<Data>(store: StoreTransport, sender: BodySender, call: BodyCall): Promise<Data> {
  const { path, query, signal } = call;
  const { url, headers } = store.prepare({ method: 'PUT', path, query });
  const request: SendRequest = {
    method: 'PUT',
    url,
    headers: { ...headers, ...call.headers },
    body: call.body,
    withCookies: store.transport.withCookies,
    signal,
    onProgress: call.onProgress,
  };
  const answer = await sender(request).catch((error: unknown) => {
    signal.throwIfAborted();
    if (error instanceof TypeError) throw new NetworkError('The platform cannot be reached', { cause: error });
    throw error;
  });
  const body = parseJson(answer.text);
  if (answer.status < 200 || answer.status > 299) throw errorOfAnswer(answer.status, answer.headers, body);
  if (body === undefined) throw new UnexpectedAnswerError('The answer is not JSON');
  return dataOf(body) as Data; // the parse, as in every call
}
