import type { ClientRequest } from 'node:http';

/** A request ended without a response, and Node reported no error. */
export class UnansweredRequest extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'UnansweredRequest';
  }
}

/**
 * Makes a request that asks for no upgrade emit `error` if it ends without a response. Node reports nothing if the
 * server answers `101 Switching Protocols` to such a request: it only closes the connection, and the request then
 * ignores its signal and `destroy`, so that no timeout can end it.
 *
 * @example
 *   const outgoing = request(url, { signal });
 *   failUnanswered(outgoing);
 *   outgoing.once('response', resolve);
 *   outgoing.once('error', reject);
 *   outgoing.end();
 */
export function failUnanswered(outgoing: ClientRequest): void {
  let isSettled = false;
  const settle = (): void => {
    isSettled = true;
  };
  const fail = (reason: string): void => {
    if (isSettled) return;
    outgoing.on('error', () => undefined); // writing the rest of the body fails as well
    outgoing.emit('error', new UnansweredRequest(reason));
  };
  outgoing.once('response', settle);
  outgoing.once('error', settle);
  outgoing.once('upgrade', (_response, socket) => {
    socket.destroy();
    fail('the server switched protocols without being asked');
  });
  outgoing.once('close', () => fail('the connection closed before an answer'));
}
