/** The subset of DNS (RFC 1035) that a resolver for addresses needs. */
export const DnsType = { a: 1 } as const;
export const DnsCode = { noError: 0, formatError: 1, serverFailure: 2, nameError: 3, notImplemented: 4 } as const;

export interface DnsQuestion {
  readonly id: number;
  readonly recursionDesired: boolean;
  /** ASCII letters in lower case, without the trailing dot. */
  readonly name: string;
  readonly type: number;
  /** The original question, copied into the answer. */
  readonly bytes: Buffer;
}

const HEADER_BYTES = 12;
const MAX_NAME_BYTES = 255;
const CLASS_INTERNET = 1;

/** Returns null for anything but a query with one question for a name without dots in its labels; it gets no answer. */
export function parseQuestion(message: Buffer): DnsQuestion | null {
  if (message.length < HEADER_BYTES + 5) return null;
  const flags = message.readUInt16BE(2);
  const isQuery = (flags & 0x8000) === 0 && (flags & 0x7800) === 0;
  if (!isQuery || message.readUInt16BE(4) !== 1) return null;
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (;;) {
    const length = message[at];
    // A compression pointer (from 0xc0 on) has no target in a question.
    if (length === undefined || length > 63) return null;
    at += 1 + length;
    if (at > message.length || at - HEADER_BYTES > MAX_NAME_BYTES) return null;
    if (length === 0) break;
    const label = message.toString('latin1', at - length, at);
    if (label.includes('.')) return null; // the joined name would be that of another host
    labels.push(label.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase()));
  }
  if (at + 4 > message.length || message.readUInt16BE(at + 2) !== CLASS_INTERNET) return null;
  const type = message.readUInt16BE(at);
  const bytes = message.subarray(HEADER_BYTES, at + 4);
  return { id: message.readUInt16BE(0), recursionDesired: (flags & 0x0100) !== 0, name: labels.join('.'), type, bytes };
}

/** Encodes an answer with these IPv4 addresses, or with an error code. */
export function answerTo(
  question: DnsQuestion,
  code: number,
  addresses: readonly string[] = [],
  ttlSeconds = 0,
): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(question.id, 0);
  header.writeUInt16BE(0x8080 | (question.recursionDesired ? 0x0100 : 0) | code, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  const records = addresses.map((address) => {
    const record = Buffer.alloc(16);
    record.writeUInt16BE(0xc000 | HEADER_BYTES, 0); // pointer to the question's name
    record.writeUInt16BE(DnsType.a, 2);
    record.writeUInt16BE(CLASS_INTERNET, 4);
    record.writeUInt32BE(ttlSeconds, 6);
    record.writeUInt16BE(4, 10);
    record.set(address.split('.').map(Number), 12);
    return record;
  });
  return Buffer.concat([header, question.bytes, ...records]);
}
