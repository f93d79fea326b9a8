import type { HttpApp } from '@svc/http';
import type { FastifyReply } from 'fastify';
import { sandboxErrors } from '../errors.ts';
import { entityTag, modeText, modifiedMs, type FileEntry } from '../domain/files/file-entry.ts';
import type { FileReading } from '../domain/files/file-reading.ts';
import type { SandboxFiles } from '../domain/files/file-service.ts';
import { TransferBody } from '../domain/files/transfer-body.ts';
import { parseRange } from './file-range.ts';
import { target, type FileRoutesOptions } from './file-routes.ts';
import { readFileQuery } from './file-schemas.ts';
import { fileHeaders } from './file-view.ts';

const MAX_JSON_BYTES = 10 * 1024 * 1024;
const BYTES = { type: 'string', format: 'binary' };

/** Ignores `Accept`: existing clients send `application/json` and expect bytes. */
export function registerFileReadRoutes(app: HttpApp, { prefix, files, owner }: FileRoutesOptions): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: `${prefix}/:${owner.key}/files`,
    config: owner.reads,
    schema: {
      tags: owner.tags,
      summary: 'Download a file, as bytes or as base64 in JSON (format=json), or a folder (archive=tar)',
      description:
        'Supports `Range`, `If-Range` and `If-None-Match`. `X-File-Size` and `X-File-Mode` describe the whole ' +
        'file. `archive=tar` returns a folder as a tar stream without devices, FIFOs, sockets and other mounted ' +
        'file systems; the connection is cut if the archive cannot be completed.',
      params: owner.params,
      querystring: readFileQuery,
      response: {
        200: { description: 'The file', content: { '*/*': { schema: BYTES } } },
        206: { description: 'The requested range', content: { '*/*': { schema: BYTES } } },
        304: { description: 'Not modified', type: 'null' },
      },
    },
    handler: async (request, reply) => {
      const { of, path } = await target(request, owner, files);
      if (request.query.archive === 'tar') return await sendArchive(of, path, reply, request.method === 'HEAD');
      if (request.query.format === 'json') return await sendJson(of, path, reply);
      const { range, 'if-range': ifRange, 'if-none-match': ifNoneMatch } = request.headers;
      const known = { range, ifRange: Array.isArray(ifRange) ? undefined : ifRange, ifNoneMatch };
      return await sendBytes(of, path, reply, { ...known, bodyless: request.method === 'HEAD' });
    },
  });
}

interface Wanted {
  range: string | undefined;
  ifRange: string | undefined;
  ifNoneMatch: string | undefined;
  bodyless: boolean;
}

async function sendBytes(of: SandboxFiles, path: string, reply: FastifyReply, wanted: Wanted): Promise<unknown> {
  const probes = wanted.bodyless || wanted.range !== undefined || wanted.ifNoneMatch !== undefined;
  if (!probes) return stream(reply.status(200), await of.read(path, {}));
  const entry = await readStat(of, path);
  if (wanted.ifNoneMatch !== undefined && matches(wanted.ifNoneMatch, entry)) {
    return reply
      .status(304)
      .headers(withoutType(fileHeaders(entry)))
      .send();
  }
  const applies = wanted.ifRange === undefined || wanted.ifRange === entityTag(entry);
  const range = applies ? parseRange(wanted.range, entry.sizeBytes) : null;
  if (wanted.bodyless) {
    const length = range?.length ?? entry.sizeBytes;
    reply.status(range === null ? 200 : 206).headers(rangeHeaders(entry, range));
    return reply.headers({ ...fileHeaders(entry), 'content-length': String(length) }).send();
  }
  if (range === null) return stream(reply.status(200), await of.read(path, {}));
  const reading = await of.read(path, range);
  // Another file replaced it between the two reads; sending all of it is always correct.
  if (entityTag(reading.entry) !== entityTag(entry)) {
    reading.close();
    return stream(reply.status(200), await of.read(path, {}));
  }
  return stream(reply.status(206).headers(rangeHeaders(entry, range)), reading);
}

function stream(reply: FastifyReply, reading: FileReading): FastifyReply {
  reply.headers({ ...fileHeaders(reading.entry), 'content-length': String(reading.sizeBytes) });
  return reply.send(new TransferBody(reading));
}

async function sendJson(of: SandboxFiles, path: string, reply: FastifyReply): Promise<unknown> {
  await using reading = await of.read(path, {});
  const { entry } = reading;
  if (reading.sizeBytes > MAX_JSON_BYTES) {
    throw sandboxErrors.FILE_TOO_LARGE({ details: { limit_bytes: MAX_JSON_BYTES } });
  }
  const chunks: Buffer[] = [];
  for await (const chunk of reading.chunks()) chunks.push(Buffer.from(chunk));
  const content = Buffer.concat(chunks).toString('base64');
  const file = { path, size: reading.sizeBytes, mode: modeText(entry.mode), mod_time: modifiedMs(entry) };
  return reply.type('application/json').send(JSON.stringify({ ...file, encoding: 'base64', content }));
}

async function readStat(of: SandboxFiles, path: string): Promise<FileEntry> {
  await using reading = await of.read(path, { length: 0 });
  return reading.entry;
}

function rangeHeaders(entry: FileEntry, range: { offset: number; length: number } | null): Record<string, string> {
  if (range === null) return {};
  return { 'content-range': `bytes ${range.offset}-${range.offset + range.length - 1}/${entry.sizeBytes}` };
}

function matches(ifNoneMatch: string, entry: FileEntry): boolean {
  const tag = entityTag(entry).replace(/^W\//, '');
  const tags = ifNoneMatch.split(',').map((each) => each.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(tag);
}

function withoutType({ 'content-type': _type, ...headers }: Record<string, string>): Record<string, string> {
  return headers;
}

/** Sends a folder as a tar stream. Its length is unknown in advance; a failure cuts the connection. */
async function sendArchive(
  of: SandboxFiles,
  path: string,
  reply: FastifyReply,
  bodyless: boolean,
): Promise<FastifyReply> {
  const name = path.split('/').findLast((part) => part !== '' && part !== '.' && part !== '..') ?? 'root';
  const headers = {
    'content-type': 'application/x-tar',
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name).replaceAll("'", '%27')}.tar`,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  };
  if (bodyless) {
    if (!(await of.isDirectory(path))) throw sandboxErrors.NOT_A_DIRECTORY({ details: { path } });
    return reply.headers(headers).send();
  }
  return reply.headers(headers).send(new TransferBody(await of.archive(path)));
}
