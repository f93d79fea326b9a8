import type { IncomingMessage, ServerResponse } from 'node:http';
import { isAppError } from '@svc/errors';
import type { Logger } from '@svc/telemetry';
import type { StoreServices } from '../../domain/services.ts';
import { storeErrors } from '../../errors.ts';
import { admitRequest } from '../../domain/admission.ts';
import { parseTags } from '../../domain/read-conditions.ts';
import { countTraffic } from '../../s3/count-traffic.ts';
import { errnoOf, FolderRefusal, type BucketFolder, type FolderPlace } from './folder-place.ts';
import { listFolder, sendFile, statEntry } from './folder-reads.ts';
import { appendFile, changeAttributes, makeFolder, removeEntry, renameEntry, writeFile } from './folder-writes.ts';

/** Buckets as folders, for the program that serves them to sandboxes. */
export interface BucketFolders {
  /** Returns the id of a bucket; null if the workspace has none of this name. */
  find(workspaceUuid: string, bucketName: string): Promise<number | null>;
  /** Whether the same bucket still exists. */
  exists(folder: Pick<BucketFolder, 'workspaceUuid' | 'bucketName' | 'bucketId'>): Promise<boolean>;
  /** Serves one request of the program. Never throws; the caller has authorized the folder. */
  serve(folder: BucketFolder, request: IncomingMessage, response: ServerResponse): Promise<void>;
}

interface Exchange {
  readonly place: FolderPlace;
  readonly query: URLSearchParams;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** A result is sent as JSON; without one, the operation has sent its response. */
interface FolderOperation {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  readonly changes: boolean;
  readonly handle: (exchange: Exchange) => Promise<unknown>;
}

const MAX_METADATA_BYTES = 4_096;
const DONE = {};

/** Every operation of the protocol, by its path. `native/bucket-mount` is the client. */
export const FOLDER_OPERATIONS: Readonly<Record<string, FolderOperation>> = {
  lease: { method: 'GET', changes: false, handle: async () => DONE },
  stat: { method: 'GET', changes: false, handle: ({ place, query }) => statEntry(place, field(query, 'path')) },
  list: {
    method: 'GET',
    changes: false,
    handle: ({ place, query }) => listFolder(place, field(query, 'path'), field(query, 'after')),
  },
  read: {
    method: 'GET',
    changes: false,
    handle: ({ place, query, request, response }) => sendFile(place, field(query, 'path'), request, response),
  },
  write: {
    method: 'PUT',
    changes: true,
    handle: ({ place, query, request }) =>
      writeFile(place, field(query, 'path'), readMetadata(request), query.has('new'), request),
  },
  append: {
    method: 'PUT',
    changes: true,
    handle: ({ place, query, request }) => {
      const [etag = ''] = parseTags(request.headers['if-match'] ?? '');
      const keepBytes = Number(field(query, 'keep'));
      if (!Number.isSafeInteger(keepBytes) || keepBytes < 0) throw new FolderRefusal('EINVAL');
      return appendFile(place, field(query, 'path'), { metadata: readMetadata(request), etag, keepBytes }, request);
    },
  },
  attributes: {
    method: 'POST',
    changes: true,
    handle: ({ place, query, request }) => changeAttributes(place, field(query, 'path'), readMetadata(request)),
  },
  folder: {
    method: 'PUT',
    changes: true,
    handle: async ({ place, query, request }) => {
      await makeFolder(place, field(query, 'path'), readMetadata(request));
      return DONE;
    },
  },
  rename: {
    method: 'POST',
    changes: true,
    handle: async ({ place, query }) => {
      const names = { from: field(query, 'from'), to: field(query, 'to'), isNew: query.has('new') };
      await renameEntry(place, names);
      return DONE;
    },
  },
  remove: {
    method: 'DELETE',
    changes: true,
    handle: async ({ place, query }) => {
      await removeEntry(place, field(query, 'path'), field(query, 'kind'));
      return DONE;
    },
  },
};

export function createBucketFolders(services: StoreServices, log: Logger): BucketFolders {
  const findOwn = async (workspaceUuid: string, name: string) => {
    try {
      return await services.buckets.getOwn(name, workspaceUuid);
    } catch (error) {
      if (isAppError(error) && error.status === 404) return null;
      throw error;
    }
  };
  return {
    find: async (workspaceUuid, name) => (await findOwn(workspaceUuid, name))?.id ?? null,
    exists: async ({ workspaceUuid, bucketName, bucketId }) =>
      (await findOwn(workspaceUuid, bucketName))?.id === bucketId,
    serve: async (folder, request, response) => {
      try {
        await admitRequest(services, folder.workspaceUuid);
        const bucket = await findOwn(folder.workspaceUuid, folder.bucketName);
        if (bucket?.id !== folder.bucketId) throw new FolderRefusal('EIO');
        countTraffic(services.traffic, bucket, request, response);
        const isCut = (): boolean => response.destroyed;
        const origin = { principal: folder.principalId, requestId: '', sourceAddress: '' };
        await perform(folder, { services, bucket, prefix: folder.prefix, origin, isCut }, request, response);
      } catch (error) {
        refuse(error, request, response, log);
      }
    },
  };
}

async function perform(
  { readOnly }: BucketFolder,
  place: FolderPlace,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = URL.parse(request.url ?? '/', 'http://platform');
  if (url === null) throw new FolderRefusal('EINVAL');
  const name = url.pathname.slice(1);
  const operation = Object.hasOwn(FOLDER_OPERATIONS, name) ? FOLDER_OPERATIONS[name] : undefined;
  if (operation === undefined || operation.method !== request.method) throw new FolderRefusal('EINVAL');
  if (operation.changes && readOnly) throw new FolderRefusal('EROFS');
  const result = await operation.handle({ place, query: url.searchParams, request, response });
  if (result !== undefined) respond(response, 200, result);
}

function respond(response: ServerResponse, status: number, content: unknown): void {
  const body = Buffer.from(JSON.stringify(content));
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}

/** A response that has begun is cut, so that the program does not take it for complete. */
function refuse(error: unknown, request: IncomingMessage, response: ServerResponse, log: Logger): void {
  const isKnown = error instanceof FolderRefusal || isAppError(error);
  if (!isKnown)
    log.error({ err: error, operation: request.url?.split('?')[0] }, 'a mounted bucket could not be served');
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const status = isAppError(error) && error.status === storeErrors.ServiceUnavailable().status ? error.status : 409;
  request.resume(); // the rest of a body, so that the client reads the response
  respond(response, status, { errno: errnoOf(error) });
}

function field(query: URLSearchParams, name: string): string {
  const value = query.get(name);
  if (value === null) throw new FolderRefusal('EINVAL');
  return value;
}

/** Attributes of a file, under the names that s3fs uses. */
function readMetadata({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  const text = Buffer.from(String(headers['x-metadata'] ?? ''), 'base64').toString();
  if (text.length > MAX_METADATA_BYTES) throw new FolderRefusal('EINVAL');
  const given = text === '' ? {} : parseMetadata(text);
  const kept: Record<string, string> = {};
  for (const name of ['mode', 'uid', 'gid', 'mtime']) {
    const value = given[name];
    if (typeof value === 'string' && /^-?\d{1,20}(\.\d{1,9})?$/.test(value)) kept[name] = value;
  }
  return kept;
}

/** Each field is checked by the caller. */
function parseMetadata(text: string): Readonly<Record<string, unknown>> {
  try {
    const given: unknown = JSON.parse(text);
    if (typeof given === 'object' && given !== null) return given as Record<string, unknown>; // any object has these
  } catch {
    // Refused below.
  }
  throw new FolderRefusal('EINVAL');
}
