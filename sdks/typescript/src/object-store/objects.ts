import { ApiError, UnexpectedAnswerError } from '../errors.ts';
import type { CallOptions } from '../transport.ts';
import { fetchSender, type BodySender } from './body-sender.ts';
import type { StoreTransport } from './envelope.ts';
import { MultipartClient } from './multipart.ts';
import type {
  DeletedObject,
  DeletedObjects,
  ObjectListQuery,
  ObjectPage,
  ObjectVersion,
  PresignedUrl,
  PresignRequest,
  StoredObject,
  UploadedObject,
  VersionPage,
  VersionQuery,
} from './object-types.ts';
import { uploadBody, type UploadBody, type UploadOptions } from './upload.ts';

/** Dependencies of an `ObjectsClient`. `tenant` is the UUID of the workspace; `sender` defaults to `fetch`. */
export interface ObjectsParts {
  store: StoreTransport;
  bucket: string;
  tenant: string;
  sender?: BodySender;
}

/** Options of a download. */
export interface DownloadOptions extends CallOptions {
  versionId?: string | undefined;
  /** First and last byte, both inclusive. */
  range?: { start: number; end?: number } | undefined;
  /** Downloads only if the object still has this ETag; otherwise throws `PreconditionFailed`. */
  ifMatch?: string | undefined;
}

/** A streamed object. Read the body to its end or cancel it. */
export interface Download {
  body: ReadableStream<Uint8Array>;
  /** Null if the platform does not report it. */
  sizeBytes: number | null;
  contentType: string | null;
  etag: string | null;
  headers: Headers;
}

/**
 * The objects of one bucket.
 *
 * @example
 * ```ts
 * const objects = store.objects('photos');
 * await objects.upload('2026/a.jpg', file);
 * for await (const { key } of objects.list({ prefix: '2026/' })) console.log(key);
 * ```
 */
export class ObjectsClient {
  /** The individual steps of multipart uploads. */
  readonly multipart: MultipartClient;
  readonly #store: StoreTransport;
  readonly #bucket: string;
  readonly #tenant: string;
  readonly #sender: BodySender;

  constructor({ store, bucket, tenant, sender }: ObjectsParts) {
    this.#store = store;
    this.#bucket = bucket;
    this.#tenant = tenant;
    this.#sender = sender ?? fetchSender(store.transport.fetch);
    this.multipart = new MultipartClient(store, bucket, this.#sender);
  }

  /** Returns one page of objects. */
  page(query: ObjectListQuery = {}, options: CallOptions = {}): Promise<ObjectPage> {
    return this.#store.call('GET /buckets/{name}/objects', { ...this.#named, query, ...options });
  }

  /** Lists page by page, fetching as needed. */
  async *pages(query: ObjectListQuery = {}, options: CallOptions = {}): AsyncGenerator<ObjectPage, void> {
    let cursor = query.cursor;
    do {
      const page = await this.page({ ...query, cursor }, options);
      yield page;
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** Lists every object with the prefix, fetching pages as needed. */
  async *list(query: ObjectListQuery = {}, options: CallOptions = {}): AsyncGenerator<StoredObject, void> {
    for await (const page of this.pages(query, options)) yield* page.objects;
  }

  /**
   * Stores a body under a key. Large bodies are uploaded in parallel parts; failed parts are retried a few times. With
   * `resume`, only missing parts are sent.
   */
  upload(key: string, body: UploadBody, options: UploadOptions = {}): Promise<UploadedObject> {
    return uploadBody(
      { store: this.#store, bucket: this.#bucket, sender: this.#sender, multipart: this.multipart },
      key,
      body,
      options,
    );
  }

  /** Returns a URL that authorizes one operation on a key for a limited time; an upload unless `method` differs. */
  async presign(key: string, request: PresignRequest = {}, options: CallOptions = {}): Promise<PresignedUrl> {
    const [url] = await this.presignMany([key], request, options);
    if (url === undefined) throw new UnexpectedAnswerError('The answer has no URL');
    return url;
  }

  /** Returns presigned URLs for at most 100 keys. */
  async presignMany(
    keys: readonly string[],
    request: PresignRequest = {},
    options: CallOptions = {},
  ): Promise<PresignedUrl[]> {
    const body = { ...request, keys: [...keys] };
    const answer = await this.#store.call('POST /buckets/{name}/objects/presign', { ...this.#named, body, ...options });
    return answer.urls ?? [];
  }

  /** Deletes an object, or one version of it. Like S3, succeeds if it does not exist. */
  delete(key: string, { versionId }: { versionId?: string } = {}, options: CallOptions = {}): Promise<DeletedObject> {
    const query = { key, version_id: versionId };
    return this.#store.call('DELETE /buckets/{name}/objects', { ...this.#named, query, ...options });
  }

  /** Deletes at most 1,000 keys; the response lists those that failed. */
  deleteMany(keys: readonly string[], options: CallOptions = {}): Promise<DeletedObjects> {
    const body = { keys: [...keys] };
    return this.#store.call('POST /buckets/{name}/objects/delete', { ...this.#named, body, ...options });
  }

  /** Downloads an object, or a range of it. */
  async download(key: string, options: DownloadOptions = {}): Promise<Download> {
    const { versionId, range, ifMatch, ...call } = options;
    const headers: Record<string, string> = {};
    if (range !== undefined) headers['range'] = `bytes=${range.start}-${range.end ?? ''}`;
    if (ifMatch !== undefined) headers['if-match'] = `"${ifMatch}"`;
    const query = { key, version_id: versionId };
    const request = { ...this.#named, query, headers, ...call };
    const response = await this.#store.stream('GET /buckets/{name}/objects/download', request);
    const size = response.headers.get('content-length');
    return {
      body: response.body ?? emptyStream(),
      sizeBytes: size === null ? null : Number(size),
      contentType: response.headers.get('content-type'),
      etag: response.headers.get('etag')?.replaceAll('"', '') ?? null,
      headers: response.headers,
    };
  }

  /** Returns one page of versions, newest first; of one key if `key` is set. */
  versionPage(query: VersionQuery = {}, options: CallOptions = {}): Promise<VersionPage> {
    return this.#store.call('GET /buckets/{name}/objects/versions', { ...this.#named, query, ...options });
  }

  /** Lists all versions of a key, newest first. */
  async *versions(key: string, options: CallOptions = {}): AsyncGenerator<ObjectVersion, void> {
    let cursor: string | null = null;
    do {
      const page: VersionPage = await this.versionPage({ key, ...(cursor !== null && { cursor }) }, options);
      yield* page.versions;
      cursor = page.cursor;
    } while (cursor !== null);
  }

  /** Copies an older version as the newest one. A delete marker is deleted instead. */
  restoreVersion(key: string, versionId: string, options: CallOptions = {}): Promise<UploadedObject> {
    const body = { key, version_id: versionId };
    return this.#store.call('POST /buckets/{name}/objects/versions/restore', { ...this.#named, body, ...options });
  }

  /** Creates an empty object whose key ends in `/`, which listings with a delimiter show as a folder. */
  async createFolder(path: string, options: CallOptions = {}): Promise<void> {
    const body = { path: path.endsWith('/') ? path : `${path}/` };
    await this.#store.call('POST /buckets/{name}/folders', { ...this.#named, body, ...options });
  }

  /**
   * Returns the public URL, which needs no credentials if the object or its bucket is public. It redirects if the
   * operator configured a separate origin for public objects.
   */
  publicUrl(key: string): string {
    const path = key.split('/').map(encodeURIComponent).join('/');
    const base = `${this.#store.transport.baseUrl}/api/v1/public/object-store/t/${encodeURIComponent(this.#tenant)}`;
    return `${base}/objects/${path}?bucket=${encodeURIComponent(this.#bucket)}`;
  }

  /** Returns whether the object exists. */
  async exists(key: string, options: CallOptions = {}): Promise<boolean> {
    try {
      const { body } = await this.download(key, { ...options, range: { start: 0, end: 0 } });
      await body.cancel();
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.status === 416) return true; // the object is empty
      if (error instanceof ApiError && error.status === 404) return false;
      throw error;
    }
  }

  get #named(): { parameters: { name: string } } {
    return { parameters: { name: this.#bucket } };
  }
}

function emptyStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.close() });
}
