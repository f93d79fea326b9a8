import { once } from 'node:events';
import { connect } from 'node:net';

/** Sends a request whose body exceeds one buffer on its own connection. Rejects unless the response is 200. */
export async function sendStream(endpoint: string, head: Uint8Array, body: Iterable<Uint8Array>): Promise<void> {
  const { hostname, port } = new URL(endpoint);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  try {
    const answered = once(socket, 'data') as Promise<[Buffer]>; // rejects if the connection fails
    answered.catch(() => undefined); // awaited below
    socket.write(head);
    for (const chunk of body) if (!socket.write(chunk)) await once(socket, 'drain');
    const [answer] = await answered;
    const status = answer.toString('latin1', 9, 12);
    if (status !== '200') throw new Error(`answered ${answer.toString()}`);
  } finally {
    socket.destroy();
  }
}
