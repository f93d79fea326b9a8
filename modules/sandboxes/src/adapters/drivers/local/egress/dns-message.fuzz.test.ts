import { describeFuzz } from '@svc/testing';
import { expect } from 'vitest';
import { answerTo, DnsCode, parseQuestion } from './dns-message.ts';

const HEADER_BYTES = 12;
const FLAGS = '010000010000000000000000';

/** A query, whose header begins with an id. */
function query(labels: readonly (string | Buffer)[], type = 1): Buffer {
  const name = labels.map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([Buffer.from(`1234${FLAGS.slice(0, 20)}`, 'hex'), ...name, Buffer.from([0, 0, type, 0, 1])]);
}

/** The name of a question, encoded again. */
function encode(name: string): Buffer {
  const labels = name === '' ? [] : name.split('.');
  const bytes = labels.flatMap((label) => [Buffer.from([label.length]), Buffer.from(label, 'latin1')]);
  return Buffer.concat([...bytes, Buffer.from([0])]);
}

const lower = (bytes: Buffer): string =>
  bytes.toString('latin1').replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

describeFuzz({
  name: 'DNS queries of sandboxes',
  corpus: new URL('./corpus/dns-message/', import.meta.url),
  seeds: [
    query(['www', 'example', 'com']),
    query(['_dns', 'resolver', 'arpa'], 64),
    query([]),
    query(['a.example', 'com']),
    query(['x'.repeat(63), 'y'.repeat(63), 'z'.repeat(63), 'w'.repeat(61)]),
    query(['x'.repeat(63), 'y'.repeat(63), 'z'.repeat(63), 'w'.repeat(63), 'v'.repeat(63)]),
    Buffer.concat([query(['a']), Buffer.from('0000290200000000000000', 'hex')]),
  ],
  dictionary: [
    '\x03www',
    '\x07example',
    '\x03com',
    '\0',
    '\x3f',
    '\xc0\x0c',
    '\0\x01\0\x01',
    '\0\x1c',
    '.',
    '\x01.',
    'A',
  ],
  maxBytes: 600,
  run: (input) => {
    const question = parseQuestion(input);
    if (question === null) return;
    const { name, bytes } = question;
    // The name is compared with the allowlist: no other question may look like it.
    const encoded = bytes.subarray(0, -4);
    expect(encode(name).toString('latin1')).toBe(lower(encoded));
    expect(encoded.length, 'longer than RFC 1035 allows').toBeLessThanOrEqual(255);
    expect(parseQuestion(Buffer.concat([input.subarray(0, HEADER_BYTES), bytes]))).toEqual(question);
    const answer = answerTo(question, DnsCode.noError, ['192.0.2.1', '192.0.2.255'], 60);
    expect(answer.length).toBe(HEADER_BYTES + bytes.length + 32);
    expect([answer.readUInt16BE(0), answer.readUInt8(2) & 0x80, answer.readUInt16BE(6)]).toEqual([
      question.id,
      0x80,
      2,
    ]);
    expect(answer.subarray(HEADER_BYTES, HEADER_BYTES + bytes.length)).toEqual(bytes);
    expect(parseQuestion(answer), 'an answer is no question').toBeNull();
  },
});
