/* oxlint-disable no-underscore-dangle -- the name is that of Node */
import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Answers `Expect: 100-continue` when the body is first read (RFC 9110, section 10.1.1). Node would answer at once: a
 * client would send gigabytes to a request that is about to be refused.
 */
export function continueOnFirstRead(request: IncomingMessage, response: ServerResponse): void {
  // `_read` is the documented place where a readable stream hears that somebody wants its data; each of `pipe`, `data`,
  // `resume` and iteration ends up there.
  const read = request._read.bind(request);
  request._read = (sizeBytes) => {
    request._read = read;
    if (!response.headersSent && !response.writableEnded) response.writeContinue();
    read(sizeBytes);
  };
}
