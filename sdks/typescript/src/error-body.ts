import { apiErrorOf, type ApiError } from './errors.ts';

/**
 * Reads an error answer. Three shapes are in use, since the contracts differ: flat
 * (`{"error":"sentence","code",…}`), nested (`{"error":{"code","message","details"}}`) and the object store's
 * envelope (`{"success":false,"message","data":{"code","request_id"}}`). Anything else still gives a usable error.
 */
export function errorOfAnswer(status: number, headers: Headers, body: unknown): ApiError {
  const outer = asRecord(body);
  const inner = asRecord(outer['error']);
  const data = asRecord(outer['data']);
  return apiErrorOf({
    status,
    code: firstText(outer['code'], inner['code'], data['code']) ?? `HTTP_${status}`,
    message: firstText(outer['message'], inner['message'], outer['error']) ?? `The platform answered ${status}`,
    requestId: firstText(headers.get('x-request-id'), outer['request_id'], data['request_id']) ?? null,
    details: { ...asRecord(outer['details']), ...asRecord(inner['details']), ...detailsOfEnvelope(data) },
    retryAfterSeconds: secondsOf(headers.get('retry-after')),
  });
}

/** The envelope has a list of fields that are wrong; here it is called `issues`, beside the resource it is about. */
function detailsOfEnvelope({ code: _code, request_id: _id, details, ...rest }: Readonly<Record<string, unknown>>) {
  return Array.isArray(details) ? { ...rest, issues: details } : rest;
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  // An object from JSON.parse has string keys; its values stay unknown.
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function firstText(...candidates: unknown[]): string | undefined {
  return candidates.find((candidate): candidate is string => typeof candidate === 'string' && candidate !== '');
}

/** RFC 9110, 10.2.3: seconds; the platform never sends the date form. */
function secondsOf(header: string | null): number | null {
  if (header === null || !/^\d{1,9}$/.test(header.trim())) return null;
  return Number(header);
}
