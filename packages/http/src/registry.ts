import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AddressShares } from '@svc/addresses';
import { httpErrors } from './errors.ts';
import type { HttpApp } from './http-app.ts';

/** A pull takes a few requests for each layer, and many nodes may share an address. Each route of images has it. */
export const IMAGE_LIMIT = { by: 'address', perMinute: 3000, burst: 3000 } as const;
/** How clients authenticate where images need it (RFC 7617). */
export const REGISTRY_CHALLENGE = 'Basic realm="svc", charset="UTF-8"';

/** A byte range of an open file. The receiver closes the handle. */
export interface StoredBytes {
  handle: FileHandle;
  offset: number;
  sizeBytes: number;
}

/**
 * The request by which clients find out that this is a registry (Docker's registry API v2). One for all modules that serve images.
 * Some images need credentials and others none, so it succeeds and names the scheme (RFC 9110, 11.6.1): some clients send
 * credentials only to a registry that named one here.
 */
export function registerRegistryCheck(app: HttpApp): void {
  app.get(
    '/v2/',
    {
      config: { public: true, rateLimit: IMAGE_LIMIT },
      schema: { tags: ['clusters'], summary: 'Check for the registry; no credentials' },
    },
    async (_request, reply) => {
      void reply
        .header('docker-distribution-api-version', 'registry/2.0')
        .header('www-authenticate', REGISTRY_CHALLENGE);
      return {};
    },
  );
}

/**
 * Of all clients together, of which each address and network has a share. A pull runs at most three at once. Clients
 * retry after a 429.
 */
const MAX_DOWNLOADS = 64;
/** Closes a download that makes no progress for this long, to free its slot. */
const STALL_MS = 60_000;

/** Sends images to nodes, with a limit on concurrent downloads. */
export class ImageSender {
  readonly #downloads: AddressShares;

  constructor(maxDownloads = MAX_DOWNLOADS) {
    this.#downloads = new AddressShares({ capacity: maxDownloads });
  }

  /** Handles `GET` and `HEAD`, for the whole file or one range (RFC 9110, 14.2), and always closes the file. */
  async send(
    request: FastifyRequest,
    reply: FastifyReply,
    { handle, offset, sizeBytes }: StoredBytes,
    contentType: string,
  ): Promise<FastifyReply> {
    let sending = false;
    try {
      const range = parseRange(request.headers.range, sizeBytes);
      const { first, last } = range ?? { first: 0, last: sizeBytes - 1 };
      void reply
        .type(contentType)
        .header('accept-ranges', 'bytes')
        .header('content-length', last - first + 1);
      if (range !== null) void reply.status(206).header('content-range', `bytes ${first}-${last}/${sizeBytes}`);
      // A stream, because any other body would replace the content-length set above.
      if (request.method === 'HEAD') return await reply.send(Readable.from([]));
      const { refusal, release } = this.#downloads.take(request.ip);
      if (release === null) {
        void reply.removeHeader('content-length').removeHeader('content-range');
        throw httpErrors.TOO_MANY_DOWNLOADS({ details: { ...refusal }, headers: { 'retry-after': '5' } });
      }
      const bytes = handle.createReadStream({ start: offset + first, end: offset + last });
      sending = true;
      bytes.once('close', release);
      reply.raw.setTimeout(STALL_MS, () => reply.raw.destroy());
      return await reply.send(bytes);
    } finally {
      if (!sending) await handle.close();
    }
  }
}

/** Null for the whole file, also if the header holds no byte range or several. Throws if the range is empty. */
function parseRange(header: string | undefined, sizeBytes: number): { first: number; last: number } | null {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (from === '' && to === '') return null;
  const first = from === '' ? Math.max(0, sizeBytes - Number(to)) : Number(from);
  const last = from === '' || to === '' ? sizeBytes - 1 : Math.min(Number(to), sizeBytes - 1);
  if (from !== '' && to !== '' && Number(to) < Number(from)) return null;
  if (first <= last) return { first, last };
  throw httpErrors.INVALID_RANGE({ headers: { 'content-range': `bytes */${sizeBytes}` } });
}
