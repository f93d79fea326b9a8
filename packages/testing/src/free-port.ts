import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

/**
 * Returns a TCP port that was just free, for external programs that cannot report theirs. Our own programs listen on
 * port 0 instead, which avoids the race.
 */
export function freePort(host = '127.0.0.1'): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, host, () => {
      const { port } = server.address() as AddressInfo; // a TCP listener's address is never a string
      server.close(() => resolve(port));
    });
  });
}
