import { createServer, type IncomingMessage } from 'node:http';
import { duplexPair, type Duplex } from 'node:stream';

/**
 * Passes bytes through Node's own HTTP parser, without a network; calls back with each request that it accepts, upgrades
 * included. Throws the first error of `visit`.
 */
export async function eachRequest(bytes: Buffer, visit: (request: IncomingMessage) => void): Promise<void> {
  const faults: unknown[] = [];
  const noteFaults = (request: IncomingMessage): void => {
    try {
      visit(request);
    } catch (error) {
      faults.push(error);
    }
  };
  const server = createServer((request, response) => {
    noteFaults(request);
    request.resume();
    response.end();
  });
  server.on('upgrade', (request, socket) => {
    noteFaults(request);
    socket.destroy();
  });
  const [client, accepted]: [Duplex, Duplex] = duplexPair();
  client.on('error', () => undefined).resume(); // a refused request ends the connection
  accepted.on('error', () => undefined);
  const closed = new Promise((resolve) => accepted.once('close', resolve));
  server.emit('connection', accepted);
  client.end(bytes);
  await closed;
  if (faults.length > 0) throw faults[0];
}
