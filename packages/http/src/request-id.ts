import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** A caller's id is taken over only when it cannot break a log line or a header. */
const ACCEPTED = /^[A-Za-z0-9._:-]{8,64}$/;

/** `newUuid` is a random UUID (RFC 9562): Node.js takes their entropy in large pieces, an eighth of the cost of `randomBytes`. */
export function requestIdOf(headers: IncomingHttpHeaders, newUuid: () => string = randomUUID): string {
  const given = headers['x-request-id'];
  if (typeof given === 'string' && ACCEPTED.test(given)) return given;
  const uuid = newUuid();
  // Without the two groups that hold the version and the variant: 96 bits, all of them random.
  return `req_${uuid.slice(0, 8)}${uuid.slice(9, 13)}${uuid.slice(24)}`;
}
