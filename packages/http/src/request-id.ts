import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** A caller's id is taken over only when it cannot break a log line or a header. */
const ACCEPTED = /^[A-Za-z0-9._:-]{8,64}$/;

export function requestIdOf(headers: IncomingHttpHeaders, random: (size: number) => Buffer = randomBytes): string {
  const given = headers['x-request-id'];
  if (typeof given === 'string' && ACCEPTED.test(given)) return given;
  return `req_${random(12).toString('hex')}`;
}
