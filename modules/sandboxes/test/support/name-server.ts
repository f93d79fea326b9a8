import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { answerTo, parseQuestion } from '../../src/adapters/drivers/local/egress/dns-message.ts';

export interface NameServer {
  /** Address for a resolver's server list. */
  readonly address: string;
  /** Queried names. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** A name server that knows only these names; on loopback by default. */
export async function startNameServer(
  names: Readonly<Record<string, readonly string[]>>,
  ttlSeconds: number,
  at: { readonly address: string; readonly port: number } = { address: '127.0.0.1', port: 0 },
): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (message, { address, port }) => {
    const question = parseQuestion(message);
    if (question === null) return;
    asked.push(question.name);
    const known = names[question.name];
    socket.send(answerTo(question, known === undefined ? 3 : 0, known ?? [], ttlSeconds), port, address);
  });
  socket.bind(at.port, at.address);
  await once(socket, 'listening');
  return {
    address: `${at.address}:${socket.address().port}`,
    asked,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}
