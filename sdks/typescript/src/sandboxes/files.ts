import { UnexpectedAnswerError } from '../errors.ts';
import { isNode } from '../socket.ts';
import type { CallOptions, Content } from '../transport.ts';
import { toBase64 } from './base64.ts';
import { join } from './captured-output.ts';
import { pathOf, type SandboxTransport } from './sandbox-transport.ts';
import type { FileEntry, UnpackedArchive, WrittenFile } from './sandbox-types.ts';
import { readServerEvents } from './server-events.ts';

export type FileContent = string | Uint8Array | Blob | ReadableStream<Uint8Array>;

export interface WriteOptions extends CallOptions {
  /** Octal digits, such as `0644`. */
  mode?: string | undefined;
  append?: boolean | undefined;
  /** The file must still be what this tag names, as `read` or the last `write` told it; else PRECONDITION_FAILED (412). */
  ifMatch?: string | undefined;
  /** Nothing may be there: else PRECONDITION_FAILED (412). */
  ifAbsent?: boolean | undefined;
}

export interface ReadOptions extends CallOptions {
  /** First and last byte, both included. */
  range?: { start: number; end?: number } | undefined;
}

/** A file that arrives while it is read. Whoever does not read it to its end cancels it. */
export interface FileDownload {
  body: ReadableStream<Uint8Array>;
  /** Of the whole file; null when the server does not say. */
  sizeBytes: number | null;
  /** Such as `-rw-r--r--`. */
  mode: string | null;
  etag: string | null;
}

/**
 * What has changed below a folder. The first is `watching`: from then on nothing is missed, or else `overflow` says so. A file
 * that was written through this API is `changed`, new or not.
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

/** Every server of this API takes a small file in JSON; what is larger goes as it is. */
const MAX_JSON_BYTES = 256 * 1024;
/** `readBytes` and `readText` hold the whole file. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;
const BYTES = 'application/octet-stream';

/** The files of one sandbox. Paths are absolute, or below the home folder. */
export class SandboxFiles {
  readonly #transport: SandboxTransport;
  readonly #path: string;

  constructor(transport: SandboxTransport, sandboxId: string) {
    this.#transport = transport;
    this.#path = `${pathOf(sandboxId)}/files`;
  }

  /** Entries of a folder, page after page, as far as it is iterated. */
  async *list(path = '/', options: CallOptions = {}): AsyncGenerator<FileEntry, void> {
    let cursor: string | undefined;
    do {
      // Servers in use answer the list itself, or null for an empty one.
      const answer = await this.#transport.call<
        FileEntry[] | null | { files: FileEntry[] | null; next_cursor?: string | null }
      >('GET', `${this.#path}/list`, { query: { path, cursor }, ...options });
      if (answer === null || Array.isArray(answer)) {
        yield* answer ?? [];
        return;
      }
      yield* answer.files ?? [];
      cursor = answer.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** A link is not followed. */
  stat(path: string, options: CallOptions = {}): Promise<FileEntry> {
    return this.#transport.call('GET', `${this.#path}/stat`, { query: { path }, ...options });
  }

  async read(path: string, { range, ...options }: ReadOptions = {}): Promise<FileDownload> {
    const headers: Record<string, string> =
      range === undefined ? {} : { range: `bytes=${range.start}-${range.end ?? ''}` };
    return await this.#download('', { path }, headers, options);
  }

  /** At most 64 MiB. */
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

  /** UTF-8, at most 64 MiB. */
  async readText(path: string, options: ReadOptions = {}): Promise<string> {
    return new TextDecoder().decode(await this.readBytes(path, options));
  }

  /** Replaces the file in one step, and makes the folders on the way. A stream is sent while it is read, but by browsers. */
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
      return await this.#transport.call('POST', this.#path, { body, headers, ...options });
    }
    const query = { path, mode, append };
    return await this.#transport.call('POST', this.#path, {
      query,
      content: await contentOf(bytes, BYTES),
      headers,
      ...options,
    });
  }

  /** With the folders on the way. Answers whether it was not there. */
  async mkdir(path: string, { mode, ...options }: CallOptions & { mode?: string } = {}): Promise<boolean> {
    const body = { path, ...(mode && { mode }) };
    const answer = await this.#transport.call<{ created?: boolean }>('POST', `${this.#path}/mkdir`, {
      body,
      ...options,
    });
    return answer.created ?? true;
  }

  /** Folders with all that is in them, unless `recursive` is false. */
  async remove(
    path: string,
    { recursive, missingOk, ...options }: CallOptions & { recursive?: boolean; missingOk?: boolean } = {},
  ): Promise<void> {
    await this.#transport.call('DELETE', this.#path, { query: { path, recursive, missing_ok: missingOk }, ...options });
  }

  /** Refused when there is something at the target, unless it may be overwritten. */
  async move(
    path: string,
    target: string,
    { overwrite = false, ...options }: CallOptions & { overwrite?: boolean } = {},
  ): Promise<void> {
    await this.#transport.call('POST', `${this.#path}/move`, { body: { path, target, overwrite }, ...options });
  }

  /** A folder with all that is in it, as a tar archive. */
  downloadArchive(path: string, options: CallOptions = {}): Promise<FileDownload> {
    return this.#download('', { path, archive: 'tar' }, {}, options);
  }

  /** Unpacks a tar archive, which may be compressed by gzip, into a folder. */
  async uploadArchive(
    path: string,
    archive: Uint8Array | Blob | ReadableStream<Uint8Array>,
    options: CallOptions = {},
  ): Promise<UnpackedArchive> {
    const content = await contentOf(archive, 'application/x-tar');
    return await this.#transport.call('PUT', `${this.#path}/archive`, { query: { path }, content, ...options });
  }

  /** What changes from now on, until the iteration is left or the signal says so. */
  async *watch(
    path: string,
    { recursive = false, ...options }: CallOptions & { recursive?: boolean } = {},
  ): AsyncGenerator<FileChange, void> {
    const query = { path, recursive };
    const headers = { accept: 'text/event-stream' };
    const { body } = await this.#transport.stream('GET', `${this.#path}/watch`, { query, headers, ...options });
    if (body === null) throw new UnexpectedAnswerError('The answer has no events');
    for await (const { event, data } of readServerEvents(body)) {
      yield { ...JSON.parse(data), kind: event } as FileChange; // the route's documented events
    }
  }

  async #download(
    below: string,
    query: Record<string, string>,
    headers: Record<string, string>,
    options: CallOptions,
  ): Promise<FileDownload> {
    const response = await this.#transport.stream('GET', `${this.#path}${below}`, { query, headers, ...options });
    const size = response.headers.get('x-file-size') ?? response.headers.get('content-length');
    return {
      body: response.body ?? new Blob([]).stream(),
      sizeBytes: size === null ? null : Number(size),
      mode: response.headers.get('x-file-mode'),
      etag: response.headers.get('etag'),
    };
  }
}

async function contentOf(body: Uint8Array | Blob | ReadableStream<Uint8Array>, type: string): Promise<Content> {
  if (body instanceof Uint8Array)
    return { type, body: body.buffer instanceof ArrayBuffer ? asOwn(body) : body.slice() };
  // Browsers send no stream over HTTP/1.1; they keep a large blob on the disk.
  if (body instanceof ReadableStream && !isNode()) return { type, body: await new Response(body).blob() };
  return { type, body };
}

/** The type says that it is not shared between threads, which was looked at. */
function asOwn(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes as Uint8Array<ArrayBuffer>;
}
