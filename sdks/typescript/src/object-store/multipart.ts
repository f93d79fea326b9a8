import { errorOfAnswer } from '../error-body.ts';
import { NetworkError, UnexpectedAnswerError } from '../errors.ts';
import { parseJson } from '../read-body.ts';
import type { CallOptions } from '../transport.ts';
import type { BodySender, SendRequest, SizedBody } from './body-sender.ts';
import { parseData, type PreparedRequest, type StoreTransport } from './envelope.ts';
import type {
  CompletedPart,
  ObjectAttributes,
  PendingUpload,
  StartedUpload,
  UploadedObject,
  UploadPart,
} from './object-types.ts';

/** A body to send, with progress and abort. */
export interface BodyCall {
  body: SizedBody;
  headers: Readonly<Record<string, string>>;
  signal: AbortSignal;
  onProgress: (sentBytes: number) => void;
}

/** Identifies a multipart upload. */
export interface UploadRef {
  key: string;
  uploadId: string;
}

/** The individual steps of a multipart upload; `ObjectsClient.upload` performs all of them. */
export class MultipartClient {
  readonly #store: StoreTransport;
  readonly #bucket: string;
  readonly #sender: BodySender;

  constructor(store: StoreTransport, bucket: string, sender: BodySender) {
    this.#store = store;
    this.#bucket = bucket;
    this.#sender = sender;
  }

  /** Starts a multipart upload. */
  start(key: string, attributes: ObjectAttributes = {}, options: CallOptions = {}): Promise<StartedUpload> {
    const { contentType: content_type, cacheControl: cache_control, metadata } = attributes;
    const body = { key, content_type, cache_control, metadata };
    const parameters = { name: this.#bucket };
    return this.#store.call('POST /buckets/{name}/objects/multipart', { parameters, body, ...options });
  }

  /** Uploads a part. Uploading the same number again replaces it. */
  part(upload: UploadRef, partNumber: number, part: Omit<BodyCall, 'headers'>): Promise<UploadPart> {
    const target = this.#store.prepare('PUT /buckets/{name}/objects/multipart/{uploadId}/parts/{n}', {
      parameters: { ...this.#parametersOf(upload), n: partNumber },
    });
    const headers = { 'content-type': 'application/octet-stream' };
    return sendBody(this.#store, this.#sender, target, { headers, ...part });
  }

  /** Lists the uploaded parts, to resume after an interruption. */
  async *parts(upload: UploadRef, options: CallOptions = {}): AsyncGenerator<UploadPart, void> {
    const parameters = this.#parametersOf(upload);
    let cursor: number | undefined;
    do {
      const request = { parameters, query: { cursor }, ...options };
      const page = await this.#store.call('GET /buckets/{name}/objects/multipart/{uploadId}/parts', request);
      yield* page.parts;
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** Lists uploads that are neither complete nor aborted. */
  async *uploads(prefix?: string, options: CallOptions = {}): AsyncGenerator<PendingUpload, void> {
    const parameters = { name: this.#bucket };
    let cursor: string | undefined;
    do {
      const request = { parameters, query: { prefix, cursor }, ...options };
      const page = await this.#store.call('GET /buckets/{name}/objects/multipart', request);
      yield* page.uploads;
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** Assembles the object from its parts. Repeating the call returns the same response. */
  complete(upload: UploadRef, parts: readonly CompletedPart[], options: CallOptions = {}): Promise<UploadedObject> {
    return this.#store.call('POST /buckets/{name}/objects/multipart/{uploadId}/complete', {
      parameters: this.#parametersOf(upload),
      body: { parts: parts.map(({ partNumber, etag }) => ({ partNumber, etag })) },
      ...options,
    });
  }

  /** Aborts the upload and removes its parts. Safe to repeat. */
  async abort(upload: UploadRef, options: CallOptions = {}): Promise<void> {
    const parameters = this.#parametersOf(upload);
    await this.#store.call('DELETE /buckets/{name}/objects/multipart/{uploadId}', { parameters, ...options });
  }

  #parametersOf({ uploadId }: UploadRef): { name: string; uploadId: string } {
    return { name: this.#bucket, uploadId };
  }
}

/** Sends one PUT with raw bytes through the sender; maps errors like any other call. */
export async function sendBody<Data>(
  { transport }: StoreTransport,
  sender: BodySender,
  { url, headers }: PreparedRequest,
  { signal, headers: ofBody, ...call }: BodyCall,
): Promise<Data> {
  const request: SendRequest = {
    method: 'PUT',
    url,
    headers: { ...headers, ...ofBody },
    withCookies: transport.withCookies,
    signal,
    ...call,
  };
  const answer = await sender(request).catch((error: unknown) => {
    signal.throwIfAborted();
    if (error instanceof TypeError) throw new NetworkError('The platform cannot be reached', { cause: error });
    throw error;
  });
  const body = parseJson(answer.text);
  if (answer.status < 200 || answer.status > 299) throw errorOfAnswer(answer.status, answer.headers, body);
  if (body === undefined) throw new UnexpectedAnswerError('The answer is not JSON');
  return parseData(body) as Data; // the parse, as in every call
}
