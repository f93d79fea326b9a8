import type { FastifyRequest } from 'fastify';
import type { ContentSource } from '../../domain/content/content-source.ts';
import { storeErrors } from '../../errors.ts';
import { pumpBody } from '../../s3/body/pump-body.ts';

/** The raw body of a request. Throws `MissingContentLength`. */
export function createBodySource(request: FastifyRequest): ContentSource {
  return {
    sizeBytes: parseContentLength(request),
    isUpload: true,
    pump: (consume) => pumpBody(request.raw, consume),
  };
}

/** The disk reserves the length before the first byte arrives. */
function parseContentLength({ headers }: FastifyRequest): number {
  const text = headers['content-length'];
  if (text === undefined || headers['transfer-encoding'] !== undefined) {
    throw storeErrors.MissingContentLength({
      details: { field: 'content-length', reason: 'is missing; without it, use a form or a multipart upload' },
    });
  }
  return Number(text); // the HTTP parser accepts only digits
}
