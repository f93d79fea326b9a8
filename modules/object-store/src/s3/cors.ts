import type { ServerResponse } from 'node:http';
import { isAppError } from '@svc/errors';
import { matchCors, type CorsMatch, type CorsQuestion } from '../domain/cors/match-cors.ts';
import type { StoreServices } from '../domain/services.ts';
import { parseCorsDocument, type CorsRule } from '../domain/settings/shared-documents.ts';
import { storeErrors } from '../errors.ts';
import type { RequestHeaders } from './request-headers.ts';
import { respondEmpty, setHeaders } from './respond.ts';
import type { S3Request } from './s3-request.ts';

/** Methods that a CORS rule can allow. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'PUT', 'POST', 'DELETE', 'HEAD']);
const VARY = 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method';

/** Adds CORS headers to any response, including errors. Does nothing without an `Origin`. */
export async function applyCors(request: S3Request, response: ServerResponse, services: StoreServices): Promise<void> {
  const origin = request.headers.get('origin');
  if (origin === undefined || request.bucketName === null) return;
  const rules = await rulesOrNone(request.bucketName, services);
  if (rules.length === 0) return;
  const method = request.headers.get('access-control-request-method') ?? request.method;
  response.setHeader('vary', VARY);
  const match = matchCors(rules, { origin, method, headers: requestedHeaders(request.headers) });
  if (match !== null) setHeaders(response, headersOf(match));
}

/** Answers a preflight request. Preflights are never signed. */
export async function answerPreflight(
  request: S3Request,
  response: ServerResponse,
  services: StoreServices,
): Promise<void> {
  const question = readQuestion(request.headers);
  if (request.bucketName === null) throw forbidden('CORS is not enabled for this bucket.');
  const rules = await readRules(request.bucketName, services);
  if (rules.length === 0) throw forbidden('CORS is not enabled for this bucket.');
  const match = matchCors(rules, question);
  if (match === null) {
    throw forbidden(
      "This CORS request is not allowed. This is usually because the evalution of Origin, request method / Access-Control-Request-Method or Access-Control-Request-Headers are not whitelisted by the resource's CORS spec.",
    );
  }
  const allowed = question.headers.length === 0 ? {} : { 'access-control-allow-headers': question.headers.join(', ') };
  respondEmpty(response, 200, { ...headersOf(match), ...allowed, vary: VARY });
}

function readQuestion(headers: RequestHeaders): CorsQuestion {
  const origin = headers.get('origin');
  if (origin === undefined || origin === '') {
    throw storeErrors.BadRequest({ details: { reason: 'Insufficient information. Origin request header needed.' } });
  }
  const method = headers.get('access-control-request-method');
  if (method === undefined || !METHODS.has(method)) {
    throw storeErrors.BadRequest({
      details: { reason: `Invalid Access-Control-Request-Method: ${method?.slice(0, 40) ?? 'null'}` },
    });
  }
  const wrong = (headers.get('access-control-request-headers') ?? '')
    .split(',')
    .find((name) => name.trim() !== '' && !/^[\w!#$%&'*+.^`|~-]+$/.test(name.trim()));
  if (wrong !== undefined) {
    const shown = Buffer.from(wrong.slice(0, 100), 'latin1').toString(); // header bytes, decoded as UTF-8
    const reason = `Access-Control-Request-Headers "${shown}" contains invalid character.`;
    throw storeErrors.BadRequest({ details: { reason } });
  }
  return { origin, method, headers: requestedHeaders(headers) };
}

function requestedHeaders(headers: RequestHeaders): readonly string[] {
  return (headers.get('access-control-request-headers') ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function headersOf({ allowedOrigin, rule }: CorsMatch): Record<string, string> {
  return {
    'access-control-allow-origin': allowedOrigin,
    'access-control-allow-methods': rule.allowedMethods.join(', '),
    ...(allowedOrigin === '*' ? {} : { 'access-control-allow-credentials': 'true' }),
    ...(rule.exposeHeaders.length === 0 ? {} : { 'access-control-expose-headers': rule.exposeHeaders.join(', ') }),
    ...(rule.maxAgeSeconds === null ? {} : { 'access-control-max-age': String(rule.maxAgeSeconds) }),
  };
}

async function readRules(bucketName: string, { buckets, configurations }: StoreServices): Promise<readonly CorsRule[]> {
  const configuration = await configurations.of(await buckets.get(bucketName));
  return configuration.parsed('cors', parseCorsDocument)?.rules ?? [];
}

/** The operation itself reports a missing bucket. */
async function rulesOrNone(bucketName: string, services: StoreServices): Promise<readonly CorsRule[]> {
  try {
    return await readRules(bucketName, services);
  } catch (error) {
    if (isAppError(error)) return [];
    throw error;
  }
}

function forbidden(reason: string): Error {
  return storeErrors.AccessForbidden({ details: { reason: `CORSResponse: ${reason}` } });
}
