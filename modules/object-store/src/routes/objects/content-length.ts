import type { FastifyRequest } from 'fastify';
import { storeErrors } from '../../errors.ts';

/** How long the raw body will be: it is promised to the disk before the first byte comes. Throws `MissingContentLength`. */
export function contentLengthOf({ headers }: FastifyRequest): number {
  const text = headers['content-length'];
  if (text === undefined || headers['transfer-encoding'] !== undefined) {
    throw storeErrors.MissingContentLength({
      details: { field: 'content-length', reason: 'is missing; without it, use a form or a multipart upload' },
    });
  }
  return Number(text); // the HTTP parser lets only digits through
}
