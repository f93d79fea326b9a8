import { UnexpectedAnswerError } from '../errors.ts';
import { isNode } from '../socket.ts';
import type { CallOptions, Content } from '../transport.ts';
import { toBase64 } from './base64.ts';
import { join } from './captured-output.ts';
import { pathOf, type SandboxTransport } from './sandbox-transport.ts';
import type { FileEntry, UnpackedArchive, WrittenFile } from './sandbox-types.ts';
import { readServerEvents } from './server-events.ts';

/** Content of a file to write. */
export type FileContent = string | Uint8Array | Blob | ReadableStream<Uint8Array>;

/** Options of a write. */
export interface WriteOptions extends CallOptions {
  /** Permissions in octal digits, such as `0644`. */
  mode?: string | undefined;
  append?: boolean | undefined;
  /** Writes only if the file still has this ETag from `read` or `write`; otherwise PRECONDITION_FAILED (412). */
  ifMatch?: string | undefined;
  /** Writes only if the path does not exist; otherwise PRECONDITION_FAILED (412). */
  ifAbsent?: boolean | undefined;
}

/** Options of a read. */
export interface ReadOptions extends CallOptions {
  /** First and last byte, both inclusive. */
  range?: { start: number; end?: number } | undefined;
}

/** A streamed file. Read the body to its end or cancel it. */
export interface FileDownload {
  body: ReadableStream<Uint8Array>;
  /** Size of the whole file; null if the server does not report it. */
  sizeBytes: number | null;
  /** Permissions, such as `-rw-r--r--`. */
  mode: string | null;
  etag: string | null;
}

/**
 * A change below a folder. The first event is `watching`; no later change is missed, unless `overflow` says so. Files
 * written through this API are `changed`, whether new or not.
 */
export type FileChange =
  | { kind: 'watching'; path: string; recursive: boolean; folders: number }
  | {
      kind: 'created' | 'changed' | 'removed' | 'moved';
      path: string;
      is_dir: boolean;
      path_b64?: string;
      from?: string;
    }
  | { kind: 'overflow'; reason: string };

/** Every server of this API accepts small files as JSON; larger ones are sent raw. */
const MAX_JSON_BYTES = 256 * 1024;
/** Limit of `readBytes` and `readText`, which buffer the whole file. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;
const BYTES = 'application/octet-stream';

/** The files of a sandbox or of a volume. */
export class RemoteFiles {
  protected readonly transport: SandboxTransport;
  protected readonly path: string;

  /** `path` is that of what has the files, relative to `/api`. */
  constructor(transport: SandboxTransport, path: string) {
    this.transport = transport;
    this.path = `${path}/files`;
  }

  /** Lists a folder, fetching pages as needed. */
  async *list(path = '/', options: CallOptions = {}): AsyncGenerator<FileEntry, void> {
    let cursor: string | undefined;
    do {
      // Other servers return a bare list, or null for an empty one.
      const answer = await this.transport.call<
        FileEntry[] | null | { files: FileEntry[] | null; next_cursor?: string | null }
      >('GET', `${this.path}/list`, { query: { path, cursor }, ...options });
      if (answer === null || Array.isArray(answer)) {
        yield* answer ?? [];
        return;
      }
      yield* answer.files ?? [];
      cursor = answer.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** Returns the attributes of a path. Does not follow a symbolic link. */
  stat(path: string, options: CallOptions = {}): Promise<FileEntry> {
    return this.transport.call('GET', `${this.path}/stat`, { query: { path }, ...options });
  }

  /** Reads a file, or a range of it, as a stream. */
  async read(path: string, { range, ...options }: ReadOptions = {}): Promise<FileDownload> {
    const headers: Record<string, string> =
      range === undefined ? {} : { range: `bytes=${range.start}-${range.end ?? ''}` };
    return await this.#download('', { path }, headers, options);
  }

  /** Reads a file of at most 64 MiB. */
  async readBytes(path: string, options: ReadOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    const { body } = await this.read(path, options);
    const reader = body.getReader();
    const pieces: Uint8Array[] = [];
    let sizeBytes = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return join(pieces);
      sizeBytes += value.length;
      if (sizeBytes > MAX_HELD_BYTES) {
        await reader.cancel();
        throw new UnexpectedAnswerError(`${path} is larger than 64 MiB: use read()`);
      }
      pieces.push(value);
    }
  }

  /** Reads a UTF-8 file of at most 64 MiB. */
  async readText(path: string, options: ReadOptions = {}): Promise<string> {
    return new TextDecoder().decode(await this.readBytes(path, options));
  }

  /**
   * Replaces the file atomically and creates parent folders. Streams are sent as they are read, except in browsers.
   */
  async write(
    path: string,
    content: FileContent,
    { mode, append, ifMatch, ifAbsent, ...options }: WriteOptions = {},
  ): Promise<WrittenFile> {
    const headers: Record<string, string> = {
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      ...(ifAbsent === true && { 'if-none-match': '*' }),
    };
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
    if (bytes instanceof Uint8Array && bytes.length <= MAX_JSON_BYTES) {
      const body = { path, content: toBase64(bytes), ...(mode && { mode }), ...(append && { append }) };
      return await this.transport.call('POST', this.path, { body, headers, ...options });
    }
    const query = { path, mode, append };
    return await this.transport.call('POST', this.path, {
      query,
      content: await readContent(bytes, BYTES),
      headers,
      ...options,
    });
  }

  /** Creates a folder and its parents. Returns whether it is new. */
  async mkdir(path: string, { mode, ...options }: CallOptions & { mode?: string } = {}): Promise<boolean> {
    const body = { path, ...(mode && { mode }) };
    const answer = await this.transport.call<{ created?: boolean }>('POST', `${this.path}/mkdir`, {
      body,
      ...options,
    });
    return answer.created ?? true;
  }

  /** Removes a file or folder. Folders are removed with their contents unless `recursive` is false. */
  async remove(
    path: string,
    { recursive, missingOk, ...options }: CallOptions & { recursive?: boolean; missingOk?: boolean } = {},
  ): Promise<void> {
    await this.transport.call('DELETE', this.path, { query: { path, recursive, missing_ok: missingOk }, ...options });
  }

  /** Renames or moves a path. Fails if the target exists, unless overwriting is allowed. */
  async move(
    path: string,
    target: string,
    { overwrite = false, ...options }: CallOptions & { overwrite?: boolean } = {},
  ): Promise<void> {
    await this.transport.call('POST', `${this.path}/move`, { body: { path, target, overwrite }, ...options });
  }

  /** Downloads a folder and its contents as a tar archive. */
  downloadArchive(path: string, options: CallOptions = {}): Promise<FileDownload> {
    return this.#download('', { path, archive: 'tar' }, {}, options);
  }

  /** Unpacks a tar archive, optionally compressed with gzip, into a folder. */
  async uploadArchive(
    path: string,
    archive: Uint8Array | Blob | ReadableStream<Uint8Array>,
    options: CallOptions = {},
  ): Promise<UnpackedArchive> {
    const content = await readContent(archive, 'application/x-tar');
    return await this.transport.call('PUT', `${this.path}/archive`, { query: { path }, content, ...options });
  }

  async #download(
    below: string,
    query: Record<string, string>,
    headers: Record<string, string>,
    options: CallOptions,
  ): Promise<FileDownload> {
    const response = await this.transport.stream('GET', `${this.path}${below}`, { query, headers, ...options });
    const size = response.headers.get('x-file-size') ?? response.headers.get('content-length');
    return {
      body: response.body ?? new Blob([]).stream(),
      sizeBytes: size === null ? null : Number(size),
      mode: response.headers.get('x-file-mode'),
      etag: response.headers.get('etag'),
    };
  }
}

/**
 * The files of one sandbox. Paths are absolute or relative to the home directory.
 *
 * @example
 * ```ts
 * await sandbox.files.write('app/main.py', 'print("hello")');
 * const source = await sandbox.files.readText('app/main.py');
 * ```
 */
export class SandboxFiles extends RemoteFiles {
  constructor(transport: SandboxTransport, sandboxId: string) {
    super(transport, pathOf(sandboxId));
  }

  /** Streams changes from now on, until the iteration ends or the signal aborts. */
  async *watch(
    path: string,
    { recursive = false, ...options }: CallOptions & { recursive?: boolean } = {},
  ): AsyncGenerator<FileChange, void> {
    const query = { path, recursive };
    const headers = { accept: 'text/event-stream' };
    const { body } = await this.transport.stream('GET', `${this.path}/watch`, { query, headers, ...options });
    if (body === null) throw new UnexpectedAnswerError('The answer has no events');
    for await (const { event, data } of readServerEvents(body)) {
      yield { ...JSON.parse(data), kind: event } as FileChange; // the route's documented events
    }
  }
}

/** Owner and permissions to set. */
export interface FileAttributes {
  /** Permissions in octal digits, such as `0644`. */
  mode?: string | undefined;
  uid?: number | undefined;
  gid?: number | undefined;
}

/**
 * The files of one volume, whether or not sandboxes mount it. Paths begin in the top folder of the volume.
 *
 * @example
 * ```ts
 * const files = svc.sandboxes.volumes.files('data');
 * await files.write('models/small.bin', bytes);
 * for await (const { path, size } of files.list('/models')) console.log(path, size);
 * ```
 */
export class VolumeFiles extends RemoteFiles {
  constructor(transport: SandboxTransport, volumeName: string) {
    super(transport, `/volumes/${encodeURIComponent(volumeName)}`);
  }

  /** Changes the owner and the permissions of what the path leads to. */
  setAttributes(path: string, attributes: FileAttributes, options: CallOptions = {}): Promise<FileEntry> {
    return this.transport.call('PATCH', this.path, { query: { path }, body: attributes, ...options });
  }
}

/** Prepares bytes as the body of a request. */
export async function readContent(
  body: Uint8Array | Blob | ReadableStream<Uint8Array>,
  type: string,
): Promise<Content> {
  if (body instanceof Uint8Array)
    return { type, body: body.buffer instanceof ArrayBuffer ? asOwn(body) : body.slice() };
  // Browsers cannot stream requests over HTTP/1.1; they keep a large blob on disk.
  if (body instanceof ReadableStream && !isNode()) return { type, body: await new Response(body).blob() };
  return { type, body };
}

/** Narrows the type to an unshared buffer, which the caller checked. */
function asOwn(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes as Uint8Array<ArrayBuffer>;
}
