import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';

/** A real DNS server (UDP). */
export interface NameServer {
  /** Address for a resolver's server list. */
  readonly address: string;
  /** Queried names. */
  readonly asked: string[];
  close(): Promise<void>;
}

const HEADER_BYTES = 12;
const NAME_ERROR = 3;
const A = 1;
const AAAA = 28;

/**
 * Starts a name server that knows only these names, on loopback by default. It answers with the addresses of the type
 * that is asked for, and not at all for names with `silent`.
 */
export async function startNameServer(
  names: Readonly<Record<string, readonly string[] | 'silent'>>,
  ttlSeconds = 0,
  at: { readonly address: string; readonly port: number } = { address: '127.0.0.1', port: 0 },
): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (message, { address, port }) => {
    const { name, type, end } = parseQuestion(message);
    asked.push(name);
    const known = names[name];
    if (known === 'silent') return;
    const found = (known ?? []).filter((each) => type === (isIPv6(each) ? AAAA : A));
    const header = Buffer.from(message.subarray(0, HEADER_BYTES));
    header.writeUInt16BE(0x8180 | (known === undefined ? NAME_ERROR : 0), 2);
    header.writeUInt16BE(found.length, 6);
    header.writeUInt32BE(0, 8); // no other sections
    const records = found.map((each) => record(each, ttlSeconds));
    socket.send(Buffer.concat([header, message.subarray(HEADER_BYTES, end), ...records]), port, address);
  });
  socket.bind(at.port, at.address);
  await once(socket, 'listening');
  return {
    address: `${at.address}:${socket.address().port}`,
    asked,
    close: () => new Promise((resolve) => void socket.close(() => resolve())),
  };
}

function parseQuestion(message: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = [];
  let offset = HEADER_BYTES;
  for (let length = message.readUInt8(offset); length > 0; length = message.readUInt8(offset)) {
    labels.push(message.toString('latin1', offset + 1, offset + 1 + length).toLowerCase());
    offset += 1 + length;
  }
  return { name: labels.join('.'), type: message.readUInt16BE(offset + 1), end: offset + 5 };
}

function record(address: string, ttlSeconds: number): Buffer {
  const bytes = addressBytes(address);
  const head = Buffer.alloc(HEADER_BYTES);
  head.writeUInt16BE(0xc000 | HEADER_BYTES, 0); // pointer to the question's name
  head.writeUInt16BE(isIPv6(address) ? AAAA : A, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttlSeconds, 6);
  head.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([head, bytes]);
}

function addressBytes(address: string): Buffer {
  if (!isIPv6(address)) return Buffer.from(address.split('.').map(Number));
  const [left = '', right = ''] = address.split('::');
  const [before, after] = [left, right].map((part) => (part === '' ? [] : part.split(':')));
  const groups = [
    ...(before ?? []),
    ...Array(8 - (before?.length ?? 0) - (after?.length ?? 0)).fill('0'),
    ...(after ?? []),
  ];
  return Buffer.from(groups.map((group) => String(group).padStart(4, '0')).join(''), 'hex');
}
