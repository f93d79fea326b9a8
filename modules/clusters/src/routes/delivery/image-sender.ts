import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AddressShares } from '@svc/addresses';
import { clusterErrors } from '../../errors.ts';
import type { StoredBytes } from '../../adapters/delivery/agent-images.ts';

/**
 * Of all clients together, of which each address and network has a share. A pull runs at most three at once. Clients
 * retry after a 429.
 */
const MAX_DOWNLOADS = 64;
/** Closes a download that makes no progress for this long, to free its slot. */
const STALL_MS = 60_000;

/** Sends images to unauthenticated clients, with a limit on concurrent downloads. */
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
        throw clusterErrors.TOO_MANY_DOWNLOADS({ details: { ...refusal }, headers: { 'retry-after': '5' } });
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
  throw clusterErrors.INVALID_RANGE({ headers: { 'content-range': `bytes */${sizeBytes}` } });
}
