import type { FastifyRequest } from 'fastify';
import { storeErrors } from '../../errors.ts';

/**
 * Returns the length of the raw body, which the disk reserves before the first byte arrives. Throws
 * `MissingContentLength`.
 */
export function parseContentLength({ headers }: FastifyRequest): number {
  const text = headers['content-length'];
  if (text === undefined || headers['transfer-encoding'] !== undefined) {
    throw storeErrors.MissingContentLength({
      details: { field: 'content-length', reason: 'is missing; without it, use a form or a multipart upload' },
    });
  }
  return Number(text); // the HTTP parser accepts only digits
}
