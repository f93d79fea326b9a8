import type { IncomingMessage, ServerResponse } from 'node:http';
import { toAppError } from '@svc/errors';
import { renderEnvelopeError, resolveRequestId, type UpgradeRoute } from '@svc/http';
import type { Logger } from '@svc/telemetry';
import { SANDBOX } from '../domain/content/content-headers.ts';
import type { StoreServices } from '../domain/services.ts';
import { storeErrors } from '../errors.ts';
import type { PublicOrigin } from './public-origin.ts';
import { decodePublicKey, findPublicObject, sendPublicObject } from './public-objects.ts';

export interface PublicHostOptions {
  services: StoreServices;
  origin: PublicOrigin;
  log: Logger;
}

/** Serves the hosts of public objects, on the API's listeners. */
export interface PublicHost {
  /** Answers the request and returns true, or leaves it untouched and returns false. */
  handle(request: IncomingMessage, response: ServerResponse): boolean;
  /** Goes before every other upgrade route: these hosts accept no upgrades. */
  readonly upgrades: UpgradeRoute;
}

/** Serves `GET https://<bucket>.<domain>/<key>` for public objects. These hosts serve nothing else of the platform. */
export function createPublicHost({ services, origin, log }: PublicHostOptions): PublicHost {
  return {
    handle: (request, response) => {
      const place = origin.parsePlace(request.headers.host);
      if (place === null) return false;
      serve(services, place.bucketName, request, response).catch((error: unknown) => {
        const { status, code } = toAppError(error);
        if (status >= 500 && code === 'internal_error') log.error({ err: error }, 'sending a public object failed');
        refuse(error, request, response);
      });
      return true;
    },
    upgrades: {
      name: 'public-objects',
      hold: { exempt: 'it refuses every upgrade' },
      matches: (request) => origin.parsePlace(request.headers.host) !== null,
      handle: async () => {
        throw storeErrors.MethodNotAllowed();
      },
    },
  };
}

async function serve(
  services: StoreServices,
  bucketName: string | null,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') throw storeErrors.MethodNotAllowed();
  const [path = ''] = (request.url ?? '').split('?', 1);
  if (bucketName === null || !path.startsWith('/')) throw storeErrors.NoSuchKey({ details: { resource: null } });
  const object = await findPublicObject(services, { bucketName, key: decodePublicKey(path.slice(1)) });
  const headers = { 'x-request-id': resolveRequestId(request.headers) };
  await sendPublicObject(services, { request, response, headers, onStart: () => undefined }, object, 'browser');
}

function refuse(raw: unknown, request: IncomingMessage, response: ServerResponse): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const error = toAppError(raw);
  const requestId = resolveRequestId(request.headers);
  const body = JSON.stringify(renderEnvelopeError(error, requestId));
  response.writeHead(error.status, {
    ...error.headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'content-security-policy': SANDBOX,
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
    'cache-control': 'no-store',
    connection: 'close', // the body, if any, was not read
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}
