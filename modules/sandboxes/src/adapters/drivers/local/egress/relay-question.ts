import { createSocket } from 'node:dgram';
import { connect } from 'node:net';

export type Transport = 'udp' | 'tcp';

const ANSWER_MS = 2000;
const MAX_ANSWER_BYTES = 65_535;

/** Asks the resolvers in turn, with the query as it is. Returns the first answer, or null if none of them answers. */
export async function relayQuestion(
  message: Buffer,
  nameservers: readonly string[],
  transport: Transport,
): Promise<Buffer | null> {
  const ask = transport === 'udp' ? askOverUdp : askOverTcp;
  for (const nameserver of nameservers) {
    const [address = '', port = '53'] = nameserver.split(':');
    const answer = await ask(message, address, Number(port));
    if (answer !== null) return answer;
  }
  return null;
}

/** The socket has a port of its own and receives from this resolver only. */
function askOverUdp(message: Buffer, address: string, port: number): Promise<Buffer | null> {
  const { promise, resolve } = Promise.withResolvers<Buffer | null>();
  const socket = createSocket('udp4');
  const timer = setTimeout(() => resolve(null), ANSWER_MS);
  socket.on('error', () => resolve(null));
  socket.on('message', (answer) => {
    if (answer.subarray(0, 2).equals(message.subarray(0, 2))) resolve(answer); // the same id
  });
  socket.connect(port, address, () => socket.send(message));
  return promise.finally(() => {
    clearTimeout(timer);
    socket.close();
  });
}

/** Each message is prefixed with its length (RFC 1035, section 4.2.2). */
function askOverTcp(message: Buffer, address: string, port: number): Promise<Buffer | null> {
  const { promise, resolve } = Promise.withResolvers<Buffer | null>();
  const socket = connect({ port, host: address });
  let received = Buffer.alloc(0);
  socket.setTimeout(ANSWER_MS, () => resolve(null));
  socket.on('error', () => resolve(null));
  socket.on('close', () => resolve(null));
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    const sizeBytes = received.length < 2 ? MAX_ANSWER_BYTES : received.readUInt16BE(0);
    if (received.length >= 2 + sizeBytes) resolve(received.subarray(2, 2 + sizeBytes));
  });
  const head = Buffer.alloc(2);
  head.writeUInt16BE(message.length);
  socket.write(Buffer.concat([head, message]));
  return promise.finally(() => socket.destroy());
}
