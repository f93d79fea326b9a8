import { grantOf, type HttpApp } from '@svc/http';
import type { FastifyRequest } from 'fastify';
import { isAppError } from '@svc/errors';
import { sandboxErrors } from '../errors.ts';
import { queryText } from '../domain/files/file-path.ts';
import type { FileService, SandboxFiles } from '../domain/files/file-service.ts';
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
import { Type } from 'typebox';

const tags = ['sandboxes'];

export interface FileRoutesOptions {
  readonly prefix: string;
  readonly files: FileService;
}

/** Routes for names and attributes; `file-read-routes` and `file-write-routes` handle bytes. */
export function registerFileRoutes(app: HttpApp, options: FileRoutesOptions): void {
  registerLooks(app, options);
  registerMakeDirectory(app, options);
  registerDelete(app, options);
  registerMove(app, options);
}

function registerLooks(app: HttpApp, { prefix, files }: FileRoutesOptions): void {
  app.get(
    `${prefix}/:id/files/list`,
    {
      config: { action: 'sandbox:files-read' },
      schema: {
        tags,
        summary: 'List a directory, directories first',
        params: idParamsSchema,
        querystring: listFilesQuery,
        response: { 200: Type.Union([filesSchema, Type.Array(entrySchema)]) },
      },
    },
    async (request) => {
      const { of, path } = await target(request, files, '/');
      const { page_size: limit, cursor, format } = request.query;
      const page = await of.list(path, { cursor, limit });
      const entries = page.entries.map((entry) => toEntryView(path, entry));
      if (format === 'array') return entries;
      return { path, files: entries, count: entries.length, total: page.total, next_cursor: page.nextCursor };
    },
  );

  app.get(
    `${prefix}/:id/files/stat`,
    {
      config: { action: 'sandbox:files-read' },
      schema: {
        tags,
        summary: 'Get the attributes of a path without following links',
        params: idParamsSchema,
        querystring: pathQuery,
        response: { 200: entrySchema },
      },
    },
    async (request) => {
      const { of, path } = await target(request, files);
      return toEntryView(path.slice(0, path.lastIndexOf('/', path.length - 2) + 1), await of.stat(path));
    },
  );
}

function registerMakeDirectory(app: HttpApp, { prefix, files }: FileRoutesOptions): void {
  app.post(
    `${prefix}/:id/files/mkdir`,
    {
      config: { action: 'sandbox:files-write' },
      schema: {
        tags,
        summary: 'Create a directory and its parents; takes the path in the body or the query',
        params: idParamsSchema,
        querystring: pathQuery,
        body: mkdirBody,
        response: { 200: madeSchema, 201: madeSchema },
      },
    },
    async (request, reply) => {
      const { of, path } = await target(request, files, request.body?.path);
      const { mode, parents = true } = request.body ?? {};
      const created = await of.makeDirectory(path, { mode: parseMode(mode), parents });
      const message = created ? 'The directory was made' : 'The directory was there already';
      return reply.status(created ? 201 : 200).send({ path, created, message });
    },
  );
}

function registerDelete(app: HttpApp, { prefix, files }: FileRoutesOptions): void {
  app.delete(
    `${prefix}/:id/files`,
    {
      config: { action: 'sandbox:files-write' },
      schema: {
        tags,
        summary: 'Delete a file, or a directory with its contents',
        params: idParamsSchema,
        querystring: deleteFileQuery,
        response: { 200: deletedSchema },
      },
    },
    async (request) => {
      const { of, path } = await target(request, files);
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

function registerMove(app: HttpApp, { prefix, files }: FileRoutesOptions): void {
  app.post(
    `${prefix}/:id/files/move`,
    {
      config: { action: 'sandbox:files-write' },
      schema: {
        tags,
        summary: 'Rename or move within the sandbox, atomically',
        params: idParamsSchema,
        querystring: workspaceQuerySchema,
        body: moveBody,
        response: { 200: Type.Object({ path: Type.String(), message: Type.String() }) },
      },
    },
    async (request) => {
      const of = await files.of(grantOf(request).workspaceUuid, request.params.id);
      const { path, target: to, overwrite = false } = request.body;
      await of.move(of.path(path), of.path(to), { overwrite });
      return { path: of.path(to), message: 'Moved' };
    },
  );
}

/** Resolves the sandbox's files and the requested path, from the query or else from `given`. */
export async function target(
  request: FastifyRequest<{ Params: { id: string } }>,
  files: FileService,
  given?: string,
): Promise<{ of: SandboxFiles; path: string }> {
  const of = await files.of(grantOf(request).workspaceUuid, request.params.id);
  const path = queryText(request.url, 'path') ?? given;
  if (path === undefined) throw sandboxErrors.INVALID_FIELD({ details: { field: 'path', reason: 'is missing' } });
  return { of, path: of.path(path) };
}
