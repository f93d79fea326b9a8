import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

/**
 * A TCP port that was free a moment ago, for outside programs that cannot report the port they took. What is ours
 * listens on port 0 instead, which has no such gap.
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
