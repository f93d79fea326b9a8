import { createGunzip } from 'node:zlib';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { GrantedAccess } from '@svc/access';
import { addressKey } from '@svc/addresses';
import { readForm, type HttpApp, type RateLimiter } from '@svc/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { queryText } from '../../domain/files/file-path.ts';
import type { FileService, SandboxFiles } from '../../domain/files/file-service.ts';
import { TransferBody } from '../../domain/files/transfer-body.ts';
import { sandboxErrors } from '../../errors.ts';
import { takeOrRefuse } from '../../routes/per-minute.ts';
import { sandboxIdOf, sandboxOf, type EnvdAdmission } from './envd-admission.ts';
import { parseMetadata, toMetadataView } from './file-metadata.ts';
import { findSigned, type SignatureDeps } from './file-signature.ts';
import { pathOf } from './paths.ts';
import { filesFor } from './users.ts';

const MAX_FILES = 100;
const MAX_TEXT_FIELD_BYTES = 1024 * 1024;

export interface FileTransferDeps extends SignatureDeps {
  readonly admission: EnvdAdmission;
  readonly files: FileService;
  /** Attempts of one address to present a signature without naming a sandbox. */
  readonly signatureLimiter: RateLimiter;
}

/**
 * `/files` of the data plane, and at the root of the server: clients resolve signed URLs against the host alone. A
 * request shows the sandbox's token, or a signature.
 */
export async function registerFileTransfers(app: HttpApp, prefix: string, deps: FileTransferDeps): Promise<void> {
  const reads = {
    action: 'sandbox:files-read',
    grantedEarlier: (request: FastifyRequest) => admit(request, 'read', deps),
  } as const;
  const writes = {
    action: 'sandbox:files-write',
    rawBody: true,
    grantedEarlier: (request: FastifyRequest) => admit(request, 'write', deps),
  } as const;
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    for (const url of [`${prefix}/files`, '/files']) {
      // Fastify's own HEAD would open the file and never end it.
      scope.get(url, { config: reads, exposeHeadRoute: false, schema: { hide: true } }, (request, reply) =>
        download(request, reply, deps),
      );
      scope.post(
        url,
        { config: { ...writes, auditResource }, bodyLimit: Number.MAX_SAFE_INTEGER, schema: { hide: true } },
        (request) => upload(request, deps),
      );
    }
  });
}

function auditResource({ envdSandbox }: FastifyRequest): string {
  return `sandbox/${envdSandbox?.id ?? ''}`;
}

async function admit(
  request: FastifyRequest,
  operation: 'read' | 'write',
  { admission, signatureLimiter, ...deps }: FileTransferDeps,
): Promise<GrantedAccess> {
  const signature = queryText(request.url, 'signature');
  if (signature === undefined) return admission.byToken(request);
  const named = sandboxIdOf(request);
  if (named === null) takeOrRefuse(signatureLimiter, addressKey(request.ip));
  const file = {
    path: queryText(request.url, 'path') ?? '',
    operation,
    username: queryText(request.url, 'username') ?? '',
    signature,
    expiration: queryText(request.url, 'signature_expiration'),
  };
  const { subjectId: sandboxId, granted } = await findSigned(file, named, deps);
  await admission.admit(request, sandboxId);
  return granted;
}

async function download(
  request: FastifyRequest,
  reply: FastifyReply,
  { files }: FileTransferDeps,
): Promise<FastifyReply> {
  const sandbox = sandboxOf(request);
  const { workspaceUuid, id } = sandbox;
  const opened = await filesFor(await files.of(workspaceUuid, id), userOf(request), sandbox);
  const path = pathOf(opened, queryText(request.url, 'path') ?? '');
  const reading = await opened.read(path, {});
  const name = encodeURIComponent(path.slice(path.lastIndexOf('/') + 1)).replaceAll("'", '%27');
  reply.headers({
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename*=UTF-8''${name}`,
    'content-length': String(reading.sizeBytes),
    'content-security-policy': 'sandbox',
  });
  return reply.send(new TransferBody(reading));
}

function userOf({ url }: FastifyRequest): string | null {
  return queryText(url, 'username') || null;
}

interface Uploaded {
  readonly name: string;
  readonly path: string;
  readonly type: 'file';
  readonly metadata?: Readonly<Record<string, string>>;
}

async function upload(request: FastifyRequest, { files }: FileTransferDeps): Promise<Uploaded[]> {
  const sandbox = sandboxOf(request);
  const { workspaceUuid, id } = sandbox;
  const opened = await filesFor(await files.forWriting(workspaceUuid, id), userOf(request), sandbox);
  const type = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  return type === 'multipart/form-data' ? uploadForm(opened, request) : uploadBody(opened, request);
}

async function uploadBody(files: SandboxFiles, request: FastifyRequest): Promise<Uploaded[]> {
  const path = queryText(request.url, 'path');
  if (path === undefined || path === '') throw invalid('path', 'is missing');
  return [await write(files, path, parseMetadata(request.headers), plainBody(request))];
}

/** A form has any number of files, named by their paths; `path` names the only one. */
async function uploadForm(files: SandboxFiles, request: FastifyRequest): Promise<Uploaded[]> {
  const path = queryText(request.url, 'path') || undefined;
  const attributes = parseMetadata(request.headers);
  const uploaded: Uploaded[] = [];
  const texts: string[] = [];
  const pathFor = (name: string): string => {
    if (path !== undefined && uploaded.length > 0) throw invalid('path', 'is for one file, but the form has several');
    const chosen = path ?? name;
    if (chosen === '') throw invalid('path', 'is missing');
    return chosen;
  };
  await readForm(
    request.raw,
    {
      field: (name, value) => {
        if (name !== 'file') throw invalid(name.slice(0, 100), 'is unknown');
        texts.push(value); // a file without a name
      },
      file: async ({ field, name, content }) => {
        if (field !== 'file') throw invalid(field.slice(0, 100), 'cannot be a file; use the field name `file`');
        uploaded.push(await write(files, pathFor(name), attributes, content));
      },
    },
    {
      malformed: (field, reason, cause) => sandboxErrors.INVALID_FIELD({ details: { field, reason }, cause }),
      incomplete: (cause) => incomplete(cause),
      keepsPaths: true,
      maxFiles: MAX_FILES,
      maxFieldBytes: MAX_TEXT_FIELD_BYTES,
    },
  );
  for (const text of texts) uploaded.push(await write(files, pathFor(''), attributes, [Buffer.from(text)]));
  if (uploaded.length === 0) throw invalid('file', 'is missing');
  return uploaded;
}

async function write(
  files: SandboxFiles,
  given: string,
  attributes: Readonly<Record<string, string>>,
  chunks: AsyncIterable<unknown> | Iterable<Buffer>,
): Promise<Uploaded> {
  const path = pathOf(files, given);
  const writing = files.write(path, { append: false, parents: true, attributes });
  try {
    for await (const chunk of chunks) await writing.write(chunk as Buffer); // no stream here has an encoding
    await writing.finish();
  } catch (error) {
    writing.abort();
    throw error;
  }
  const metadata = toMetadataView(attributes);
  const name = path.slice(path.lastIndexOf('/') + 1);
  return { name, path, type: 'file', ...(Object.keys(metadata).length === 0 ? {} : { metadata }) };
}

/** Throws if the body ended early, so that no partial file is written. */
async function* plainBody({ raw, headers }: FastifyRequest): AsyncGenerator<Buffer, void> {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity' && encoding !== 'gzip') throw invalid('content-encoding', 'is neither identity nor gzip');
  if (encoding === 'identity') {
    yield* wholeBody(raw);
    return;
  }
  const gunzip = createGunzip();
  const source: Readable = raw.on('error', (error) => gunzip.destroy(error));
  source.on('close', () => raw.complete || gunzip.destroy(incomplete()));
  source.pipe(gunzip);
  try {
    for await (const chunk of gunzip) yield chunk as Buffer; // no encoding is set
  } catch (cause) {
    if (!raw.complete) throw incomplete(cause);
    throw sandboxErrors.INVALID_FIELD({ details: { field: 'body', reason: 'is not gzip' }, cause });
  } finally {
    source.unpipe(gunzip);
    gunzip.destroy();
  }
}

async function* wholeBody(raw: IncomingMessage): AsyncGenerator<Buffer, void> {
  for await (const chunk of raw.iterator({ destroyOnReturn: false })) yield chunk as Buffer; // no encoding is set
  if (!raw.complete) throw incomplete();
}

function incomplete(cause?: unknown): Error {
  return sandboxErrors.INVALID_FIELD({ details: { field: 'body', reason: 'ended early' }, cause });
}

function invalid(field: string, reason: string): Error {
  return sandboxErrors.INVALID_FIELD({ details: { field, reason } });
}
