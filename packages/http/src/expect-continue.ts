/* oxlint-disable no-underscore-dangle -- the name is that of Node */
import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Answers `Expect: 100-continue` when the body is first read (RFC 9110, section 10.1.1). Node.js answers immediately,
 * so a client would send gigabytes to a request that is about to be refused.
 */
export function continueOnFirstRead(request: IncomingMessage, response: ServerResponse): void {
  // `_read` is the documented hook for consumption of a readable stream: `pipe`, `data`, `resume` and iteration all
  // call it.
  const read = request._read.bind(request);
  request._read = (sizeBytes) => {
    request._read = read;
    if (!response.headersSent && !response.writableEnded) response.writeContinue();
    read(sizeBytes);
  };
}
