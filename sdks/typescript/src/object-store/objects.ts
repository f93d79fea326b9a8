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

export interface ObjectsParts {
  store: StoreTransport;
  bucket: string;
  tenant: string;
  sender?: BodySender;
}

export interface DownloadOptions extends CallOptions {
  versionId?: string | undefined;
  /** First and last byte, both included. */
  range?: { start: number; end?: number } | undefined;
  /** Only when it is still this one, else `PreconditionFailed`. */
  ifMatch?: string | undefined;
}

/** A body that arrives while it is read. Whoever does not read it to its end cancels it. */
export interface Download {
  body: ReadableStream<Uint8Array>;
  /** Null when the platform does not say. */
  sizeBytes: number | null;
  contentType: string | null;
  etag: string | null;
  headers: Headers;
}

/** The objects of one bucket. */
export class ObjectsClient {
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

  page(query: ObjectListQuery = {}, options: CallOptions = {}): Promise<ObjectPage> {
    return this.#store.call('GET /buckets/{name}/objects', { ...this.#named, query, ...options });
  }

  /** Page after page, as far as it is iterated. */
  async *pages(query: ObjectListQuery = {}, options: CallOptions = {}): AsyncGenerator<ObjectPage, void> {
    let cursor = query.cursor;
    do {
      const page = await this.page({ ...query, cursor }, options);
      yield page;
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** Every object below the prefix, one after the other. */
  async *list(query: ObjectListQuery = {}, options: CallOptions = {}): AsyncGenerator<StoredObject, void> {
    for await (const page of this.pages(query, options)) yield* page.objects;
  }

  /**
   * Stores a body under a key. Large ones go in parts, some at the same time; what failed is sent again a few times.
   * With `resume` only the parts that are missing are sent.
   */
  upload(key: string, body: UploadBody, options: UploadOptions = {}): Promise<UploadedObject> {
    return uploadBody(
      { store: this.#store, bucket: this.#bucket, sender: this.#sender, multipart: this.multipart },
      key,
      body,
      options,
    );
  }

  /** A URL with which anybody may do this one thing for a while. An upload unless `method` says otherwise. */
  async presign(key: string, request: PresignRequest = {}, options: CallOptions = {}): Promise<PresignedUrl> {
    const [url] = await this.presignMany([key], request, options);
    if (url === undefined) throw new UnexpectedAnswerError('The answer has no URL');
    return url;
  }

  /** For at most 100 keys. */
  async presignMany(
    keys: readonly string[],
    request: PresignRequest = {},
    options: CallOptions = {},
  ): Promise<PresignedUrl[]> {
    const body = { ...request, keys: [...keys] };
    const answer = await this.#store.call('POST /buckets/{name}/objects/presign', { ...this.#named, body, ...options });
    return answer.urls ?? [];
  }

  /** Succeeds as well when there is no such object, as S3 does. */
  delete(key: string, { versionId }: { versionId?: string } = {}, options: CallOptions = {}): Promise<DeletedObject> {
    const query = { key, version_id: versionId };
    return this.#store.call('DELETE /buckets/{name}/objects', { ...this.#named, query, ...options });
  }

  /** At most 1,000 keys; the answer says which of them could not be deleted. */
  deleteMany(keys: readonly string[], options: CallOptions = {}): Promise<DeletedObjects> {
    const body = { keys: [...keys] };
    return this.#store.call('POST /buckets/{name}/objects/delete', { ...this.#named, body, ...options });
  }

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

  /** Of one key when `key` is given, newest first. */
  versionPage(query: VersionQuery = {}, options: CallOptions = {}): Promise<VersionPage> {
    return this.#store.call('GET /buckets/{name}/objects/versions', { ...this.#named, query, ...options });
  }

  async *versions(key: string, options: CallOptions = {}): AsyncGenerator<ObjectVersion, void> {
    let cursor: string | null = null;
    do {
      const page: VersionPage = await this.versionPage({ key, ...(cursor !== null && { cursor }) }, options);
      yield* page.versions;
      cursor = page.cursor;
    } while (cursor !== null);
  }

  /** Makes an older version the newest, as a copy of it. A delete marker is deleted instead. */
  restoreVersion(key: string, versionId: string, options: CallOptions = {}): Promise<UploadedObject> {
    const body = { key, version_id: versionId };
    return this.#store.call('POST /buckets/{name}/objects/versions/restore', { ...this.#named, body, ...options });
  }

  /** Makes an empty object whose key ends in `/`, which listings with a delimiter show as a folder. */
  async createFolder(path: string, options: CallOptions = {}): Promise<void> {
    const body = { path: path.endsWith('/') ? path : `${path}/` };
    await this.#store.call('POST /buckets/{name}/folders', { ...this.#named, body, ...options });
  }

  /**
   * Readable without credentials when the object or its bucket is public. Redirects where the operator gave public objects an
   * origin of their own.
   */
  publicUrl(key: string): string {
    const path = key.split('/').map(encodeURIComponent).join('/');
    const base = `${this.#store.transport.baseUrl}/api/v1/public/object-store/t/${encodeURIComponent(this.#tenant)}`;
    return `${base}/objects/${path}?bucket=${encodeURIComponent(this.#bucket)}`;
  }

  /** Whether there is such an object now. */
  async exists(key: string, options: CallOptions = {}): Promise<boolean> {
    try {
      const { body } = await this.download(key, { ...options, range: { start: 0, end: 0 } });
      await body.cancel();
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.status === 416) return true; // it is empty
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
