import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `/bytes?size=N` returns that many bytes; anything else, one KiB. Prints its port. */
const block = Buffer.alloc(1024 * 1024, 'x');
const small = block.subarray(0, 1024);
const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://backend');
  if (url.pathname !== '/bytes') {
    response.setHeader('content-length', small.length);
    response.end(small);
    return;
  }
  let left = Number(url.searchParams.get('size'));
  response.setHeader('content-length', left);
  const more = (): void => {
    while (left > 0) {
      const part = left >= block.length ? block : block.subarray(0, left);
      left -= part.length;
      if (!response.write(part)) {
        response.once('drain', more);
        return;
      }
    }
    response.end();
  };
  more();
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo; // a TCP listener
  process.stdout.write(`${port}\n`);
});
