/**
 * The S3 data plane: one handler for a raw `node:http` server. A request goes through `readS3Request` (raw URL and
 * headers), `detectOperation` (method and query -> an operation), `dispatch` (signature, permission, bucket) and the
 * operation's handler. Each operation is declared once, in `operations/`; detection, rights and documentation are
 * derived.
 *
 * Operations in `operations/absent.ts` are recognized and answered with 501 and their name. Intended differences from
 * AWS: one region under several names; a bucket's owner is its workspace; access keys carry their permissions, so there
 * are no IAM policies; Signature Version 2 is rejected.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { toAppError, type AppError } from '@svc/errors';
import { resolveRequestId, type ClientOfRequest } from '@svc/http';
import { redactText, type Logger, type Metrics } from '@svc/telemetry';
import { SANDBOX } from '../domain/content/content-headers.ts';
import type { DomainDirectory } from '../domain/custom-domains/domain-directory.ts';
import type { StoreServices } from '../domain/services.ts';
import { countTraffic } from './count-traffic.ts';
import { storeErrors } from '../errors.ts';
import { ConnectionTurns } from './connection-turns.ts';
import { answerPreflight, applyCors } from './cors.ts';
import { detectOperation } from './detect.ts';
import { dispatch } from './dispatch.ts';
import { respondError } from './refuse.ts';
import { refuseBrokenRequest, refuseSocket } from './refuse-socket.ts';
import { setHeaders } from './respond.ts';
import type { S3Oversight } from './s3-context.ts';
import { isBrowsing, serveWebsite, readWebsite } from './website/serve-website.ts';
import { bucketOfHost, readS3Request, type S3Request } from './s3-request.ts';

export interface S3Plane {
  /** Handles a request of the listener. */
  handle(incoming: IncomingMessage, response: ServerResponse): void;
  /**
   * Installs the server hooks that `handle` needs: sends `100 Continue` only when a body is wanted, and answers
   * malformed HTTP.
   */
  configure(server: Server): void;
  /** Answers a request whose body stopped arriving. */
  onSlowBody(exchange: { request: IncomingMessage; response: ServerResponse }): void;
  /** Number of requests in progress. */
  activeRequests(): number;
}

export interface S3PlaneOptions {
  services: StoreServices;
  /** Finds the bucket that a custom domain serves. */
  directory: Pick<DomainDirectory, 'findBucket'>;
  oversight: S3Oversight;
  clientOf: ClientOfRequest;
  log: Logger;
  metrics: Metrics;
}

/**
 * Set on every response on platform hosts, including errors and listings, since their text is partly the client's.
 * Cookies ignore ports, so a page of this listener must not act as one on the console's host.
 */
const ISOLATED = { 'content-security-policy': SANDBOX, 'x-content-type-options': 'nosniff' };

export function createS3Plane(options: S3PlaneOptions): S3Plane {
  const { log, metrics } = options;
  const duration = metrics.histogram('svc_s3_request_duration_seconds', 'Time to answer an S3 request', [
    'operation',
    'status',
  ]);
  let active = 0;
  const serve = async (
    incoming: IncomingMessage,
    response: ServerResponse,
    expectsContinue: boolean,
  ): Promise<void> => {
    const startedAt = performance.now();
    const requestId = resolveRequestId(incoming.headers);
    let operation = 'Unknown';
    active += 1;
    response.setHeader('x-amz-request-id', requestId);
    response.setHeader('x-request-id', requestId);
    setHeaders(response, ISOLATED);
    try {
      await answerRequest(options, { incoming, response, requestId, expectsContinue }, (name) => {
        operation = name;
      });
    } catch (raw) {
      const error = toAppError(raw);
      logFault(log, incoming, error, requestId);
      respondError(incoming, response, error, { requestId, resource: pathOf(incoming) });
    } finally {
      active -= 1;
      const seconds = (performance.now() - startedAt) / 1_000;
      duration.observe({ operation, status: String(response.statusCode) }, seconds);
      log.debug({ request_id: requestId, operation, status: response.statusCode, duration_ms: seconds * 1_000 }, 's3');
    }
  };

  const turns = new ConnectionTurns();
  const start = (incoming: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void => {
    response.on('error', () => undefined); // the client disconnected; the writer handles it
    turns.take(incoming, response, () => {
      serve(incoming, response, expectsContinue).catch((error: unknown) => {
        log.error({ err: error }, 's3 answer failed');
        response.destroy();
      });
    });
  };

  return {
    handle: (incoming, response) => start(incoming, response, false),
    configure: (server) => {
      server.on('checkContinue', (incoming: IncomingMessage, response: ServerResponse) =>
        start(incoming, response, true),
      );
      server.on('clientError', (error: Error, socket: Duplex) => refuseBrokenRequest(error, socket, turns));
    },
    onSlowBody: ({ request, response }) => {
      if (response.headersSent) request.destroy();
      else refuseSocket(request.socket, storeErrors.RequestTimeout());
    },
    activeRequests: () => active,
  };
}

/** Client errors are not logged as errors. */
function logFault(log: Logger, incoming: IncomingMessage, error: AppError, requestId: string): void {
  if (error.status < 500 || error.status === 501) return;
  const url = redactText(incoming.url ?? '');
  log.error({ err: error.cause ?? error, code: error.code, request_id: requestId, url }, 's3 request failed');
}

interface RawRequest {
  incoming: IncomingMessage;
  response: ServerResponse;
  requestId: string;
  expectsContinue: boolean;
}

/** Answers a raw request. Calls `onOperation` with the operation's name as soon as it is known. */
async function answerRequest(
  { services, directory, oversight, clientOf }: S3PlaneOptions,
  { incoming, response, requestId, expectsContinue }: RawRequest,
  onOperation: (operation: string) => void,
): Promise<void> {
  const { domains, website_domains: websiteDomains } = services.deps.config;
  const host = incoming.headers.host ?? '';
  const shown = bucketOfHost(host, websiteDomains);
  const siteBucket = shown ?? (await directory.findBucket(host))?.name ?? null;
  if (siteBucket !== null) for (const name of Object.keys(ISOLATED)) response.removeHeader(name);
  const request = readS3Request(incoming, response, { requestId, domains, siteBucket, expectsContinue, clientOf });
  if (siteBucket !== null && (await showsWebsite(request, response, { services, oversight }, shown !== null))) {
    onOperation('Website');
    return;
  }
  const detected = detectOperation(request);
  onOperation(detected === 'CorsPreflight' ? detected : detected.name);
  if (detected === 'CorsPreflight') {
    await answerPreflight(request, response, services);
    return;
  }
  await applyCors(request, response, services);
  await dispatch(detected, request, response, { services, oversight });
}

/**
 * A website host serves only the website. A custom domain of a website bucket serves the website to anonymous readers,
 * and the bucket to all other requests.
 */
async function showsWebsite(
  request: S3Request,
  response: ServerResponse,
  { services, oversight }: Pick<S3PlaneOptions, 'services' | 'oversight'>,
  always: boolean,
): Promise<boolean> {
  if (!(always || isBrowsing(request)) || request.method === 'OPTIONS') return false;
  const bucket = await services.buckets.get(request.bucketName ?? '');
  const document = await readWebsite(services, bucket);
  if (document === null) {
    if (always) throw storeErrors.NoSuchWebsiteConfiguration();
    return false;
  }
  countTraffic(services.traffic, bucket, request.incoming, response);
  await applyCors(request, response, services);
  await serveWebsite({ request, response, services, oversight, bucket, document });
  return true;
}

function pathOf(incoming: IncomingMessage): string {
  return (incoming.url ?? '/').split('?', 1)[0] ?? '/';
}
