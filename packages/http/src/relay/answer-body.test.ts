import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerBody } from './answer-body.ts';
import { MalformedAnswer } from './answer-head.ts';

/** Returns the body and the bytes after it, fed in pieces cut at these offsets. */
function read(length: number | null | 'end', bytes: Buffer, cuts: readonly number[] = []) {
  const body = answerBody(length);
  const pieces: Buffer[] = [];
  const rest: Buffer[] = [];
  const places = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  let from = 0;
  for (const to of places) {
    const chunk = bytes.subarray(from, to);
    from = to;
    if (chunk.length > 0)
      rest.push(body.isWhole ? chunk : body.push(chunk, (piece) => pieces.push(Buffer.from(piece))));
  }
  return {
    text: Buffer.concat(pieces).toString('latin1'),
    rest: Buffer.concat(rest).toString('latin1'),
    isWhole: body.isWhole,
    trailers: body.trailers,
  };
}

describe('answerBody', () => {
  it('ends a counted body where it says, and hands back what follows', () => {
    expect(read(5, Buffer.from('helloHTTP'))).toMatchObject({ text: 'hello', rest: 'HTTP', isWhole: true });
    expect(read(5, Buffer.from('hell'))).toMatchObject({ text: 'hell', isWhole: false });
    expect(answerBody(0).isWhole).toBe(true);
  });

  it('is never whole without a length', () => {
    expect(read('end', Buffer.from('anything'))).toMatchObject({ text: 'anything', isWhole: false });
  });

  it('reads chunks, extensions and trailers, however they are cut', () => {
    const part = fc.uint8Array({ minLength: 1, maxLength: 50 }).map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), fc.array(fc.nat(), { maxLength: 12 }), (parts, cuts) => {
        const chunks = parts.map((bytes) =>
          Buffer.concat([Buffer.from(`${bytes.length.toString(16)};name=value\r\n`), bytes, Buffer.from('\r\n')]),
        );
        const whole = Buffer.concat([...chunks, Buffer.from('0\r\nX-Sum: 1 \r\n\r\nnext')]);
        expect(read(null, whole, cuts)).toEqual({
          text: Buffer.concat(parts).toString('latin1'),
          rest: 'next',
          isWhole: true,
          trailers: ['X-Sum', '1'],
        });
      }),
    );
  });

  it.each([
    ['a size that is no number', 'x\r\n'],
    ['a negative size', '-1\r\n'],
    ['a size without end', '0'.repeat(9000)],
    ['a chunk longer than its size', '1\r\nab\r\n'],
    ['a line without CR', '1\na'],
    ['a trailer that is no header', '0\r\nno colon\r\n'],
    ['trailers without end', `0\r\n${'A: b\r\n'.repeat(200)}`],
  ])('refuses %s', (_name, text) => {
    expect(() => read(null, Buffer.from(text))).toThrow(MalformedAnswer);
  });

  it('takes no quadratic time for trailers with long runs of spaces', () => {
    const trailer = `a:${'\t'.repeat(8_000)}\x7f\r\n`;
    for (let answer = 0; answer < 2_000; answer += 1) {
      expect(() => read(null, Buffer.from(`0\r\n${trailer}\r\n`))).toThrow(MalformedAnswer);
    }
  });
});
