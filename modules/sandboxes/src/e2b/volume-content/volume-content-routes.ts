import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { GrantedAccess } from '@svc/access';
import { isAppError } from '@svc/errors';
import type { HttpApp } from '@svc/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type, type Static } from 'typebox';
import type { SandboxFiles } from '../../domain/files/file-service.ts';
import { queryText } from '../../domain/files/file-path.ts';
import { TransferBody } from '../../domain/files/transfer-body.ts';
import type { VolumeFileService } from '../../domain/volumes/volume-file-service.ts';
import type { VolumeService } from '../../domain/volumes/volume-service.ts';
import { sandboxErrors } from '../../errors.ts';
import { MAX_OWNER } from '../../routes/volume-file-routes.ts';
import { pathOf } from '../envd/paths.ts';
import { volumeOf } from './volume-admission.ts';
import { listAsJson, toVolumeEntry } from './volume-entries.ts';

const MAX_DEPTH = 32;
const PERMISSIONS = 0o7777;

const params = Type.Object({ id: Type.String({ maxLength: 100 }) });
const pathQuery = { path: Type.String({ minLength: 1 }) };
const attributes = {
  uid: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_OWNER })),
  gid: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_OWNER })),
  mode: Type.Optional(Type.Integer({ minimum: 0, maximum: 0xffff_ffff })),
};
const makeQuery = Type.Object({ ...pathQuery, ...attributes, force: Type.Optional(Type.Boolean()) });
const attributesBody = Type.Object(attributes);

export interface VolumeContentDeps {
  /** `/e2b` */
  readonly prefix: string;
  readonly admit: (request: FastifyRequest) => Promise<GrantedAccess>;
  readonly volumes: Pick<VolumeService, 'usable'>;
  readonly files: VolumeFileService;
}

/** `/volumecontent/{id}`: the files of a volume, for clients with a token of the volume. */
export async function registerVolumeContent(app: HttpApp, deps: VolumeContentDeps): Promise<void> {
  registerPath(app, deps);
  registerDirectory(app, deps);
  registerDownload(app, deps);
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    registerUpload(scope, deps);
  });
}

function reading({ admit }: VolumeContentDeps) {
  return { action: 'volume:files-read', grantedEarlier: admit } as const;
}

function writing({ admit }: VolumeContentDeps) {
  return { action: 'volume:files-write', grantedEarlier: admit, auditResource } as const;
}

function auditResource({ e2bVolume }: FastifyRequest): string {
  return `volume/${e2bVolume?.name ?? ''}`;
}

function registerPath(app: HttpApp, deps: VolumeContentDeps): void {
  const url = `${deps.prefix}/volumecontent/:id/path`;
  const schema = { hide: true, params, querystring: Type.Object(pathQuery) };
  app.get(url, { config: reading(deps), schema, exposeHeadRoute: false }, async (request) => {
    const { files, path } = await open(request, deps);
    return toVolumeEntry(path, await files.stat(path));
  });
  app.patch(url, { config: writing(deps), schema: { ...schema, body: attributesBody } }, async (request) => {
    const { files, path } = await open(request, deps);
    if (Object.keys(request.body).length > 0) await files.setAttributes(path, attributesOf(request.body));
    return toVolumeEntry(path, await files.stat(path));
  });
  app.delete(url, { config: writing(deps), schema }, async (request, reply) => {
    const { files, path } = await open(request, deps);
    await files.remove(path, { recursive: true });
    return reply.status(204).send();
  });
}

function registerDirectory(app: HttpApp, deps: VolumeContentDeps): void {
  const url = `${deps.prefix}/volumecontent/:id/dir`;
  const querystring = Type.Object({
    ...pathQuery,
    depth: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_DEPTH })),
  });
  const list = { config: reading(deps), schema: { hide: true, params, querystring }, exposeHeadRoute: false };
  app.get(url, list, async (request, reply) => {
    const { files, path } = await open(request, deps);
    const listing = await listAsJson(files, path, request.query.depth ?? 1);
    return reply.type('application/json; charset=utf-8').send(Readable.from(listing));
  });
  const schema = { hide: true, params, querystring: makeQuery };
  app.post(url, { config: writing(deps), schema }, async (request, reply) => {
    const { files, path } = await open(request, deps, { adds: true });
    const { force = false } = request.query;
    const created = await files.makeDirectory(path, { parents: force });
    if (!created && !force) throw sandboxErrors.PATH_EXISTS({ details: { path } });
    const wanted = attributesOf(request.query);
    if (created && Object.values(wanted).some((value) => value !== undefined)) await files.setAttributes(path, wanted);
    return reply.status(201).send(toVolumeEntry(path, await files.stat(path)));
  });
}

function registerDownload(app: HttpApp, deps: VolumeContentDeps): void {
  const schema = { hide: true, params, querystring: Type.Object(pathQuery) };
  // Fastify's own HEAD would open the file and never end it.
  const options = { config: reading(deps), schema, exposeHeadRoute: false };
  app.get(`${deps.prefix}/volumecontent/:id/file`, options, async (request, reply) => {
    const { files, path } = await open(request, deps);
    return sendFile(files, path, reply);
  });
}

async function sendFile(files: SandboxFiles, path: string, reply: FastifyReply): Promise<FastifyReply> {
  const transfer = await files.read(path, {});
  reply.headers({
    'content-type': 'application/octet-stream',
    'content-length': String(transfer.sizeBytes),
    'content-disposition': 'attachment',
    'content-security-policy': 'sandbox',
    'x-content-type-options': 'nosniff',
  });
  return reply.send(new TransferBody(transfer));
}

function registerUpload(app: HttpApp, deps: VolumeContentDeps): void {
  const config = { ...writing(deps), rawBody: true };
  const schema = { hide: true, params, querystring: makeQuery };
  const options = { config, bodyLimit: Number.MAX_SAFE_INTEGER, schema };
  app.put(`${deps.prefix}/volumecontent/:id/file`, options, async (request, reply) => {
    const { files, path } = await open(request, deps, { adds: true });
    const entry = await writeFile(files, path, request);
    return reply.status(201).send(toVolumeEntry(path, entry));
  });
}

async function writeFile(
  files: SandboxFiles,
  path: string,
  { raw, query }: FastifyRequest<{ Querystring: Static<typeof makeQuery> }>,
) {
  // A client that does not say otherwise overwrites.
  const when = query.force === false ? ({ absent: true } as const) : undefined;
  const transfer = files.write(path, { ...attributesOf(query), append: false, parents: false, when });
  try {
    for await (const chunk of wholeBody(raw)) await transfer.write(chunk);
    return (await transfer.finish()).entry;
  } catch (error) {
    transfer.abort();
    if (isAppError(error) && error.code === 'PRECONDITION_FAILED') {
      throw sandboxErrors.PATH_EXISTS({ details: { path }, cause: error });
    }
    throw error;
  }
}

/** The files of the request's volume and the path in it. Throws VOLUME_ELSEWHERE if the request was not forwarded. */
async function open(
  request: FastifyRequest,
  { volumes, files }: VolumeContentDeps,
  { adds = false }: { adds?: boolean } = {},
): Promise<{ files: SandboxFiles; path: string }> {
  const { workspaceUuid, id, name } = volumeOf(request);
  const volume = await volumes.usable(workspaceUuid, name);
  // While a slow body came in, the volume was deleted, and another one got its name.
  if (volume.id !== id) throw sandboxErrors.VOLUME_NOT_FOUND({ details: { name: id } });
  const opened = await files.ofVolume(volume);
  if (adds) await files.assertRoom();
  return { files: opened, path: pathOf(opened, queryText(request.url, 'path') ?? '') };
}

function attributesOf({ uid, gid, mode }: Static<typeof attributesBody>) {
  return { uid, gid, mode: mode === undefined ? undefined : mode & PERMISSIONS };
}

/** Throws if the body ended early, so that no partial file is written. */
async function* wholeBody(raw: IncomingMessage): AsyncGenerator<Buffer, void> {
  for await (const chunk of raw.iterator({ destroyOnReturn: false })) yield chunk as Buffer; // no encoding is set
  if (!raw.complete) throw sandboxErrors.INVALID_FIELD({ details: { field: 'body', reason: 'ended early' } });
}
