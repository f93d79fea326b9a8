import { describeFuzz } from '@svc/testing';
import { expect } from 'vitest';
import { type AnswerHead, MalformedAnswer, readAnswerHead } from './answer-head.ts';

function read(bytes: Buffer, method = 'GET'): AnswerHead | null | 'malformed' {
  try {
    return readAnswerHead(bytes, method);
  } catch (error) {
    if (error instanceof MalformedAnswer) return 'malformed';
    throw error;
  }
}

describeFuzz({
  name: 'the head of a relayed answer',
  corpus: new URL('./corpus/answer-head/', import.meta.url),
  seeds: [
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: x\r\n\r\n',
    'HTTP/1.0 404\r\nConnection: close\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\nContent-Length: 5\r\n\r\n',
  ],
  dictionary: [
    'HTTP/1.1 200 OK\r\n',
    'Content-Length: ',
    'Transfer-Encoding: chunked\r\n',
    'transfer-encoding:',
    'gzip, chunked',
    '\r\n\r\n',
    '\r\n ',
    '\n',
    '\0',
    ' : ',
    '+5',
    '0x5',
    '304',
  ],
  run: (input) => {
    const head = read(input);
    const end = input.indexOf('\r\n\r\n');
    expect(head === null).toBe(end === -1);
    if (head === null || head === 'malformed') return;
    expect(head.sizeBytes).toBe(end + 4);
    // Bytes after the head don't affect it.
    expect(read(input.subarray(0, head.sizeBytes))).toEqual(head);
    const named = (name: string): string[] =>
      head.headers.flatMap((each, index) =>
        index % 2 === 0 && each.toLowerCase() === name ? [head.headers[index + 1] ?? ''] : [],
      );
    const codings = named('transfer-encoding');
    const lengths = named('content-length');
    expect(codings.length === 0 || lengths.length === 0, 'two lengths').toBe(true);
    if (typeof head.length === 'number' && head.length > 0) {
      expect(lengths.every((each) => each.split(',').every((part) => Number(part) === head.length))).toBe(true);
    }
    expect(head.headers.every((each) => !/[\r\n\0]/.test(each))).toBe(true);
  },
});
