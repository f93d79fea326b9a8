import { grantOf, type HttpApp } from '@svc/http';
import type { FastifyContextConfig, FastifyRequest } from 'fastify';
import { isAppError } from '@svc/errors';
import { sandboxErrors } from '../errors.ts';
import { queryText } from '../domain/files/file-path.ts';
import type { FilePlaces, SandboxFiles } from '../domain/files/file-service.ts';
import {
  deletedSchema,
  deleteFileQuery,
  entrySchema,
  filesSchema,
  listFilesQuery,
  madeSchema,
  mkdirBody,
  moveBody,
  pathQuery,
} from './file-schemas.ts';
import { parseMode, toEntryView } from './file-view.ts';
import { idParamsSchema, workspaceQuerySchema } from './schemas.ts';
import { Type, type TSchema } from 'typebox';

export interface FileRoutesOptions {
  readonly prefix: string;
  readonly files: FilePlaces;
  readonly owner: FileOwner;
}

/** What the routes below `prefix` have files of. */
export interface FileOwner {
  /** In summaries. */
  readonly noun: string;
  readonly tags: string[];
  /** Name of the path parameter that names it, and its schema. */
  readonly key: string;
  readonly params: TSchema;
  readonly reads: FastifyContextConfig;
  readonly writes: FastifyContextConfig;
}

export const SANDBOX_FILES: FileOwner = {
  noun: 'sandbox',
  tags: ['sandboxes'],
  key: 'id',
  params: idParamsSchema,
  reads: { action: 'sandbox:files-read' },
  writes: { action: 'sandbox:files-write' },
};

/** Routes for names and attributes; `file-read-routes` and `file-write-routes` handle bytes. */
export function registerFileRoutes(app: HttpApp, options: FileRoutesOptions): void {
  registerLooks(app, options);
  registerMakeDirectory(app, options);
  registerDelete(app, options);
  registerMove(app, options);
}

function registerLooks(app: HttpApp, { prefix, files, owner }: FileRoutesOptions): void {
  app.get(
    `${prefix}/:${owner.key}/files/list`,
    {
      config: owner.reads,
      schema: {
        tags: owner.tags,
        summary: 'List a directory, directories first',
        params: owner.params,
        querystring: listFilesQuery,
        response: { 200: Type.Union([filesSchema, Type.Array(entrySchema)]) },
      },
    },
    async (request) => {
      const { of, path } = await target(request, owner, files, '/');
      const { page_size: limit, cursor, format } = request.query;
      const page = await of.list(path, { cursor, limit });
      const entries = page.entries.map((entry) => toEntryView(path, entry));
      if (format === 'array') return entries;
      return { path, files: entries, count: entries.length, total: page.total, next_cursor: page.nextCursor };
    },
  );

  app.get(
    `${prefix}/:${owner.key}/files/stat`,
    {
      config: owner.reads,
      schema: {
        tags: owner.tags,
        summary: 'Get the attributes of a path without following links',
        params: owner.params,
        querystring: pathQuery,
        response: { 200: entrySchema },
      },
    },
    async (request) => {
      const { of, path } = await target(request, owner, files);
      return toEntryView(path.slice(0, path.lastIndexOf('/', path.length - 2) + 1), await of.stat(path));
    },
  );
}

function registerMakeDirectory(app: HttpApp, { prefix, files, owner }: FileRoutesOptions): void {
  app.post(
    `${prefix}/:${owner.key}/files/mkdir`,
    {
      config: owner.writes,
      schema: {
        tags: owner.tags,
        summary: 'Create a directory and its parents; takes the path in the body or the query',
        params: owner.params,
        querystring: pathQuery,
        body: mkdirBody,
        response: { 200: madeSchema, 201: madeSchema },
      },
    },
    async (request, reply) => {
      const { of, path } = await target(request, owner, files, request.body?.path);
      const { mode, parents = true } = request.body ?? {};
      const created = await of.makeDirectory(path, { mode: parseMode(mode), parents });
      const message = created ? 'The directory was made' : 'The directory was there already';
      return reply.status(created ? 201 : 200).send({ path, created, message });
    },
  );
}

function registerDelete(app: HttpApp, { prefix, files, owner }: FileRoutesOptions): void {
  app.delete(
    `${prefix}/:${owner.key}/files`,
    {
      config: { ...owner.writes, answersLate: true },
      schema: {
        tags: owner.tags,
        summary: 'Delete a file, or a directory with its contents',
        params: owner.params,
        querystring: deleteFileQuery,
        response: { 200: deletedSchema },
      },
    },
    async (request) => {
      const { of, path } = await target(request, owner, files);
      const { recursive = true, missing_ok: missingOk = false } = request.query;
      try {
        await of.remove(path, { recursive });
      } catch (error) {
        if (!missingOk || !isAppError(error) || error.code !== 'PATH_NOT_FOUND') throw error;
        return { path, deleted: false, message: 'It was not there' };
      }
      return { path, deleted: true, message: 'Deleted' };
    },
  );
}

function registerMove(app: HttpApp, { prefix, files, owner }: FileRoutesOptions): void {
  app.post(
    `${prefix}/:${owner.key}/files/move`,
    {
      config: owner.writes,
      schema: {
        tags: owner.tags,
        summary: `Rename or move within the ${owner.noun}, atomically`,
        params: owner.params,
        querystring: workspaceQuerySchema,
        body: moveBody,
        response: { 200: Type.Object({ path: Type.String(), message: Type.String() }) },
      },
    },
    async (request) => {
      const of = await files.of(grantOf(request).workspaceUuid, ownerOf(request, owner));
      const { path, target: to, overwrite = false } = request.body;
      await of.move(of.path(path), of.path(to), { overwrite });
      return { path: of.path(to), message: 'Moved' };
    },
  );
}

/** Resolves the files and the requested path, from the query or else from `given`. */
export async function target(
  request: FastifyRequest,
  owner: FileOwner,
  files: FilePlaces,
  given?: string,
): Promise<{ of: SandboxFiles; path: string }> {
  const of = await files.of(grantOf(request).workspaceUuid, ownerOf(request, owner));
  const path = queryText(request.url, 'path') ?? given;
  if (path === undefined) throw sandboxErrors.INVALID_FIELD({ details: { field: 'path', reason: 'is missing' } });
  return { of, path: of.path(path) };
}

/** The sandbox or volume that the path names. */
export function ownerOf({ params }: FastifyRequest, { key }: FileOwner): string {
  return String((params as Record<string, unknown>)[key]); // the route's path has it
}
