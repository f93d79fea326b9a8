import { constants, type ServerHttp2Stream } from 'node:http2';
import type { Http2Request } from './http2-request.ts';
import type { Http2Response } from './http2-response.ts';

/** How much of an unwanted body is still read, so that a client that is still sending can read its response. */
const LINGER_BYTES = 1024 * 1024;
const LINGER_MS = 2_000;

/**
 * After a response that did not wait for the whole body, reads the rest for a while, then asks the client to stop: RST_STREAM
 * with NO_ERROR leaves the response valid (RFC 9113, section 8.1).
 */
export function discardRest(stream: ServerHttp2Stream, request: Http2Request, response: Http2Response): void {
  response.once('finish', () => {
    if (request.complete || stream.closed) return;
    const stop = (): void => {
      clearTimeout(timer);
      stream.off('data', onData);
      if (!stream.closed) stream.close(constants.NGHTTP2_NO_ERROR);
    };
    let leftBytes = LINGER_BYTES;
    const onData = (chunk: Buffer): void => {
      leftBytes -= chunk.length;
      if (leftBytes < 0) stop();
    };
    const timer = setTimeout(stop, LINGER_MS);
    stream.once('close', () => clearTimeout(timer));
    request.resume();
    stream.on('data', onData);
  });
}
