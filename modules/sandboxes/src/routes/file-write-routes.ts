import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { describeIssues, grantOf, readForm, type HttpApp } from '@svc/http';
import type { FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { Check, Errors } from 'typebox/schema';
import { sandboxErrors } from '../errors.ts';
import { entityTag } from '../domain/files/file-entry.ts';
import { parsePrecondition } from '../domain/files/file-precondition.ts';
import { fileName, joinPath, queryText } from '../domain/files/file-path.ts';
import type { SandboxFiles } from '../domain/files/file-service.ts';
import type { WriteOptions, WrittenFile } from '../domain/files/file-writing.ts';
import { ownerOf, target, type FileRoutesOptions } from './file-routes.ts';
import {
  pathQuery,
  unpackedSchema,
  writeFileBody,
  writeFileHeaders,
  writeFileQuery,
  writtenSchema,
} from './file-schemas.ts';
import { plainArchive } from '../domain/files/plain-archive.ts';
import { parseMode, toWrittenView } from './file-view.ts';

/** Base64 adds a third to the 32 MiB of content that may be written this way. */
const MAX_BODY_BYTES = 44 * 1024 * 1024;

/** Reads a JSON body in the handler, because the same route also accepts streamed bodies. */
async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    const bytes = chunk as Buffer; // no encoding is set
    sizeBytes += bytes.length;
    if (sizeBytes > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(bytes);
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))) as unknown;
  } catch (cause) {
    throw sandboxErrors.INVALID_FIELD({ details: { field: 'body', reason: 'is not valid JSON in UTF-8' }, cause });
  }
}

function tooLarge(): Error {
  return sandboxErrors.FILE_TOO_LARGE({
    details: { limit_bytes: MAX_BODY_BYTES, hint: 'send the content itself as the body, with ?path=' },
  });
}

/** Registers routes whose bodies are not parsed in advance: the handler streams or parses them. */
export async function registerFileWriteRoutes(app: HttpApp, options: FileRoutesOptions): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    registerWrite(scope, options);
    registerUnpack(scope, options);
  });
}

function registerWrite(app: HttpApp, { prefix, files, owner }: FileRoutesOptions): void {
  app.post(
    `${prefix}/:${owner.key}/files`,
    {
      config: { ...owner.writes, rawBody: true },
      bodyLimit: Number.MAX_SAFE_INTEGER,
      schema: {
        tags: owner.tags,
        summary: 'Write a file atomically; 201 if it is new, 200 if it replaced a file',
        description:
          'Accepts three forms: JSON `{path, content, encoding, mode, append, create_dirs}` with base64 content ' +
          'unless `encoding` is `utf-8`; `multipart/form-data` with the file as `file` and `?path=` naming the ' +
          'file or its folder; any other content type is the content itself, with `?path=`. `If-Match` and ' +
          '`If-None-Match` are atomic with respect to other writes through this API. With `If-Match`, a program in ' +
          'the sandbox can still change the file between the check and the rename; with `If-None-Match`, it cannot.',
        consumes: ['application/json', 'multipart/form-data', 'application/octet-stream'],
        params: owner.params,
        querystring: writeFileQuery,
        headers: writeFileHeaders,
        response: { 200: writtenSchema, 201: writtenSchema },
      },
    },
    async (request, reply) => {
      const of = await files.forWriting(grantOf(request).workspaceUuid, ownerOf(request, owner));
      const [path, written] = await write(of, request);
      return reply
        .status(written.created ? 201 : 200)
        .header('etag', entityTag(written.entry))
        .send(toWrittenView(path, written));
    },
  );
}

function registerUnpack(app: HttpApp, { prefix, files, owner }: FileRoutesOptions): void {
  app.put(
    `${prefix}/:${owner.key}/files/archive`,
    {
      config: { ...owner.writes, rawBody: true },
      bodyLimit: Number.MAX_SAFE_INTEGER,
      schema: {
        tags: owner.tags,
        summary: 'Unpack a tar archive (plain or gzip) into a folder, which is created if missing',
        description:
          'The whole archive is checked and unpacked before any file moves into place, so a refused or interrupted ' +
          'upload leaves nothing behind. Absolute paths, `..`, paths through links, hard links out of the archive, ' +
          'devices and FIFOs are refused. An archive may have at most 100,000 entries and unpack to at most the ' +
          'size of the disk and 200 times its own size. Files belong to root.',
        consumes: ['application/x-tar', 'application/gzip', 'application/octet-stream'],
        params: owner.params,
        querystring: pathQuery,
        response: { 200: unpackedSchema },
      },
    },
    async (request) => {
      const { of, path } = await target(request, owner, files);
      await files.assertRoom();
      const unpacking = of.unpack(path);
      try {
        for await (const chunk of plainArchive(wholeBody(request.raw))) await unpacking.write(chunk);
        const { entries, sizeBytes } = await unpacking.finish();
        return { path, entries, size_bytes: sizeBytes };
      } catch (error) {
        unpacking.abort();
        throw error;
      }
    },
  );
}

type Query = Static<typeof writeFileQuery>;
type Request = Pick<FastifyRequest<{ Querystring: Query }>, 'headers' | 'query' | 'raw' | 'url'>;

function write(of: SandboxFiles, request: Request): Promise<[path: string, WrittenFile]> {
  const type = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'application/json') return writeJson(of, request);
  if (type === 'multipart/form-data') return writeForm(of, request);
  return writeRaw(of, request);
}

async function writeJson(of: SandboxFiles, request: Request): Promise<[string, WrittenFile]> {
  // A client that sends raw content may use the type of JSON files.
  if (queryText(request.url, 'path') !== undefined) return await writeRaw(of, request);
  const body: unknown = await readJsonBody(request.raw);
  if (!Check(writeFileBody, body)) {
    const [first] = describeIssues('body', Errors(writeFileBody, body)[1]);
    throw malformed(first?.field ?? 'body', first?.issue ?? 'is not valid');
  }
  const path = of.path(body.path);
  const content = decodeContent(body.content, body.encoding ?? 'base64');
  const options = {
    mode: parseMode(body.mode),
    append: body.append ?? false,
    parents: body.create_dirs ?? true,
    when: parsePrecondition(request.headers),
  };
  return [path, await writeAll(of, path, options, [content])];
}

async function writeRaw(of: SandboxFiles, request: Request): Promise<[string, WrittenFile]> {
  const path = of.path(queryPath(request));
  return [path, await writeAll(of, path, parseOptions(request), wholeBody(request.raw))];
}

async function writeForm(of: SandboxFiles, request: Request): Promise<[string, WrittenFile]> {
  const options = parseOptions(request);
  let path = queryText(request.url, 'path');
  const written: [string, WrittenFile][] = [];
  await readForm(
    request.raw,
    {
      field: (name, value) => {
        if (name === 'path') path ??= value;
        else throw malformed(name.slice(0, 100), 'is unknown');
      },
      file: async ({ field, name, content }) => {
        if (field !== 'file') throw malformed(field.slice(0, 100), 'cannot be a file; use the field name `file`');
        if (written.length > 0) throw malformed('file', 'appears twice; one request writes one file');
        if (path === undefined) throw malformed('path', 'is missing');
        const given = of.path(path);
        const isFolder = given.endsWith('/') || (await of.isDirectory(given));
        const target = isFolder ? joinPath(given, fileName(name)) : given;
        written.push([target, await writeAll(of, target, options, content)]);
      },
    },
    { malformed, incomplete },
  );
  const [first] = written;
  if (first === undefined) throw malformed('file', 'is missing');
  return first;
}

async function writeAll(
  of: SandboxFiles,
  path: string,
  options: WriteOptions,
  chunks: AsyncIterable<Buffer> | Iterable<Buffer> | Readable,
): Promise<WrittenFile> {
  const writing = of.write(path, options);
  try {
    for await (const chunk of chunks) await writing.write(chunk as Buffer); // no stream here has an encoding
    return await writing.finish();
  } catch (error) {
    writing.abort();
    throw error;
  }
}

/** Throws if the body ended early, so that no partial file is written. */
async function* wholeBody(request: IncomingMessage): AsyncGenerator<Buffer, void> {
  for await (const chunk of request.iterator({ destroyOnReturn: false })) yield chunk as Buffer; // no encoding is set
  if (!request.complete) throw incomplete();
}

function parseOptions({ headers, query }: Request): WriteOptions {
  const { mode, append = false, create_dirs: parents = true } = query;
  return { mode: parseMode(mode), append, parents, when: parsePrecondition(headers) };
}

function queryPath(request: Request): string {
  const path = queryText(request.url, 'path');
  if (path === undefined) throw malformed('path', 'is missing');
  return path;
}

function malformed(field: string, reason: string, cause?: unknown): Error {
  return sandboxErrors.INVALID_FIELD({ details: { field, reason }, cause });
}

function incomplete(cause?: unknown): Error {
  return sandboxErrors.INVALID_FIELD({ details: { field: 'body', reason: 'ended early' }, cause });
}

/**
 * Decodes the content of a JSON body. Base64 (RFC 4648 section 4) must be canonical: a lenient decoder could write a
 * file that the client did not intend.
 */
function decodeContent(content: string, encoding: 'base64' | 'utf-8'): Buffer {
  if (encoding === 'utf-8') {
    if (!content.isWellFormed()) throw invalid('contains an unpaired surrogate, which is not valid UTF-8');
    return Buffer.from(content, 'utf8');
  }
  const bytes = Buffer.from(content, 'base64');
  if (bytes.toString('base64') !== content) {
    throw invalid('is not canonical base64; for text send "encoding": "utf-8"');
  }
  return bytes;
}

function invalid(reason: string): Error {
  return sandboxErrors.INVALID_FIELD({ details: { field: 'content', reason } });
}
