import { describe, expect, it } from 'vitest';
import { MalformedAnswer, readAnswerHead } from './answer-head.ts';

const read = (text: string, method = 'GET') => readAnswerHead(Buffer.from(text, 'latin1'), method);
const lines = (...given: string[]): string => `${given.join('\r\n')}\r\n\r\n`;

describe('readAnswerHead', () => {
  it('keeps order, case and repetitions of headers, and says where the body begins', () => {
    const text = lines('HTTP/1.1 200 All right', 'X-One: 1', 'x-two:  b ', 'X-One: 3', 'Content-Length: 5');
    expect(read(`${text}hello`)).toEqual({
      status: 200,
      reason: 'All right',
      headers: ['X-One', '1', 'x-two', 'b', 'X-One', '3', 'Content-Length', '5'],
      connection: '',
      isHttp11: true,
      length: 5,
      sizeBytes: text.length,
    });
  });

  it('waits for the whole of it', () => {
    const text = lines('HTTP/1.1 200 OK', 'A: b');
    for (let size = 0; size < text.length; size += 1) expect(read(text.slice(0, size))).toBeNull();
    expect(read(text)).not.toBeNull();
  });

  it.each([
    ['chunked', 'GET', ['HTTP/1.1 200 OK', 'Transfer-Encoding: Chunked'], null],
    ['until the end', 'GET', ['HTTP/1.0 200 OK'], 'end'],
    ['so many bytes', 'GET', ['HTTP/1.1 200 OK', 'Content-Length: 7, 7'], 7],
    ['nothing after HEAD', 'HEAD', ['HTTP/1.1 200 OK', 'Content-Length: 7'], 0],
    ['nothing with 204', 'GET', ['HTTP/1.1 204 No Content'], 0],
    ['nothing with 304', 'GET', ['HTTP/1.1 304 Not Modified', 'Content-Length: 7'], 0],
  ] as const)('tells the framing of the body: %s', (_name, method, head, length) => {
    expect(read(lines(...head), method)?.length).toBe(length);
  });

  it.each([
    ['no status line', ['SSH-2.0-OpenSSH_9']],
    ['another version', ['HTTP/2.0 200 OK']],
    ['two lengths', ['HTTP/1.1 200 OK', 'Content-Length: 5', 'Transfer-Encoding: chunked']],
    ['lengths that differ', ['HTTP/1.1 200 OK', 'Content-Length: 5', 'Content-Length: 6']],
    ['a negative length', ['HTTP/1.1 200 OK', 'Content-Length: -1']],
    ['a length in another base', ['HTTP/1.1 200 OK', 'Content-Length: 0x10']],
    ['another coding', ['HTTP/1.1 200 OK', 'Transfer-Encoding: gzip, chunked']],
    ['a folded line', ['HTTP/1.1 200 OK', 'A: b', ' c']],
    ['a space before the colon', ['HTTP/1.1 200 OK', 'Content-Length : 5']],
    ['a line feed in a value', ['HTTP/1.1 200 OK', 'A: b\nSet-Cookie: c=d']],
    ['a null byte', ['HTTP/1.1 200 OK', 'A: \0']],
    ['no colon', ['HTTP/1.1 200 OK', 'Content-Length']],
  ])('refuses %s', (_name, head) => {
    expect(() => read(lines(...head))).toThrow(MalformedAnswer);
  });

  it('takes no quadratic time for a list with long runs of spaces', () => {
    const value = `a${'\t'.repeat(60_000)}b`;
    for (const name of ['Content-Length', 'Transfer-Encoding']) {
      for (let answer = 0; answer < 500; answer += 1) {
        expect(() => read(lines('HTTP/1.1 200 OK', `${name}: ${value}`))).toThrow(MalformedAnswer);
      }
    }
  });

  it('refuses a head without end', () => {
    expect(() => read(`HTTP/1.1 200 OK\r\nA: ${'b'.repeat(70_000)}`)).toThrow('too long');
  });
});
