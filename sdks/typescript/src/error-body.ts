import { createApiError, type ApiError } from './errors.ts';

/**
 * Parses an error response. The contracts define three shapes: flat (`{"error":"sentence","code",…}`), nested
 * (`{"error":{"code","message","details"}}`) and the object store's envelope
 * (`{"success":false,"message","data":{"code","request_id"}}`). Any other body still yields a usable error.
 */
export function errorOfAnswer(status: number, headers: Headers, body: unknown): ApiError {
  const outer = asRecord(body);
  const inner = asRecord(outer['error']);
  const data = asRecord(outer['data']);
  return createApiError({
    status,
    code: firstText(outer['code'], inner['code'], data['code']) ?? `HTTP_${status}`,
    message: firstText(outer['message'], inner['message'], outer['error']) ?? `The platform answered ${status}`,
    requestId: firstText(headers.get('x-request-id'), outer['request_id'], data['request_id']) ?? null,
    details: { ...asRecord(outer['details']), ...asRecord(inner['details']), ...detailsOfEnvelope(data) },
    retryAfterSeconds: parseSeconds(headers.get('retry-after')),
  });
}

/** The envelope lists invalid fields; they become `issues`, next to the resource. */
function detailsOfEnvelope({ code: _code, request_id: _id, details, ...rest }: Readonly<Record<string, unknown>>) {
  return Array.isArray(details) ? { ...rest, issues: details } : rest;
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  // Objects from JSON.parse have string keys; their values stay unknown.
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function firstText(...candidates: unknown[]): string | undefined {
  return candidates.find((candidate): candidate is string => typeof candidate === 'string' && candidate !== '');
}

/** RFC 9110, 10.2.3: seconds. The platform never sends the date form. */
function parseSeconds(header: string | null): number | null {
  if (header === null || !/^\d{1,9}$/.test(header.trim())) return null;
  return Number(header);
}
