import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { Shares } from '@svc/runtime';
import type { Transport } from './relay-question.ts';

/** Of all sandboxes together, and of one. */
const MAX_TCP_CLIENTS = 256;
const MAX_TCP_CLIENTS_PER_SANDBOX = 8;
const TCP_IDLE_MS = 10_000;
/** Upper bound of a query with one name. */
const MAX_QUESTION_BYTES = 600;
const PORT_TRIES = 8;

/** Answers a query from an address; null sends no answer. */
export type Answerer = (message: Buffer, from: string, transport: Transport) => Promise<Buffer | null>;

/** A DNS socket over UDP and TCP, on one port of an address that only sandboxes reach. */
export class EgressResolver {
  readonly port: number;
  readonly #udp: UdpSocket;
  readonly #tcp: Server;
  readonly #clients: Set<Socket>;

  private constructor(port: number, udp: UdpSocket, tcp: Server, clients: Set<Socket>) {
    this.port = port;
    this.#udp = udp;
    this.#tcp = tcp;
    this.#clients = clients;
  }

  static async open(address: string, answer: Answerer): Promise<EgressResolver> {
    for (let tries = 1; ; tries += 1) {
      const udp = createSocket('udp4');
      try {
        udp.bind(0, address);
        await once(udp, 'listening');
        const { port } = udp.address();
        const clients = new Set<Socket>();
        const shares = new Shares({
          capacity: MAX_TCP_CLIENTS,
          capacityPerKey: MAX_TCP_CLIENTS_PER_SANDBOX,
          holders: { key: 'sandbox', group: 'sandbox' },
        });
        const tcp = createServer((client) => {
          const { release } = shares.take(client.remoteAddress ?? '');
          if (release === null) return void client.destroy();
          client.once('close', release);
          serveTcp(client, clients, answer);
        });
        tcp.listen(port, address);
        await once(tcp, 'listening');
        udp.on('message', (message, { address: from, port: fromPort }) => {
          void reply(message, from, 'udp', answer).then((bytes) => {
            if (bytes !== null) sendAnswer(udp, bytes, fromPort, from);
          });
        });
        udp.on('error', () => undefined);
        tcp.on('error', () => undefined);
        return new EgressResolver(port, udp, tcp, clients);
      } catch (error) {
        udp.close();
        if (tries === PORT_TRIES) throw error; // another program held the TCP port each time
      }
    }
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.destroy();
    await Promise.all([
      new Promise<void>((resolve) => this.#udp.close(() => resolve())),
      new Promise<void>((resolve) => this.#tcp.close(() => resolve())),
    ]);
  }
}

/** Ignores clients that are gone, ports that are none, and a socket that was closed while the answer was looked up. */
function sendAnswer(udp: UdpSocket, bytes: Buffer, port: number, address: string): void {
  try {
    udp.send(bytes, port, address, () => undefined);
  } catch {
    // There is no one to tell: the client asks again.
  }
}

function reply(message: Buffer, from: string, transport: Transport, answer: Answerer): Promise<Buffer | null> {
  if (message.length > MAX_QUESTION_BYTES) return Promise.resolve(null);
  return answer(message, from, transport).catch(() => null);
}

/** Handles one query after another, each prefixed with its length (RFC 1035, section 4.2.2). */
function serveTcp(client: Socket, clients: Set<Socket>, answer: Answerer): void {
  clients.add(client);
  client.once('close', () => clients.delete(client));
  client.on('error', () => client.destroy());
  client.setTimeout(TCP_IDLE_MS, () => client.destroy());
  const from = client.remoteAddress ?? '';
  let pending = Buffer.alloc(0);
  let busy = false;
  const next = async (): Promise<void> => {
    if (busy || pending.length < 2) return;
    const length = pending.readUInt16BE(0);
    if (length > MAX_QUESTION_BYTES) client.destroy();
    if (client.destroyed || pending.length < 2 + length) return;
    busy = true;
    const message = pending.subarray(2, 2 + length);
    pending = pending.subarray(2 + length);
    const bytes = await reply(message, from, 'tcp', answer);
    busy = false;
    if (bytes === null) {
      client.destroy();
      return;
    }
    const head = Buffer.alloc(2);
    head.writeUInt16BE(bytes.length);
    client.write(Buffer.concat([head, bytes]));
    await next();
  };
  client.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    if (pending.length > 4 * MAX_QUESTION_BYTES) client.destroy();
    else void next();
  });
}
