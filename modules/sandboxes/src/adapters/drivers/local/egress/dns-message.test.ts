import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerTo, parseQuestion } from './dns-message.ts';

function ask(name: string, type = 1): Buffer {
  const labels = name.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]);
  return Buffer.concat([Buffer.from('123401000001000000000000', 'hex'), ...labels, Buffer.from([0, 0, type, 0, 1])]);
}

describe('DNS messages', () => {
  it('parses a query for one name and answers with its addresses', () => {
    const question = parseQuestion(ask('WWW.Example.com'));
    expect(question).toMatchObject({ id: 0x1234, recursionDesired: true, name: 'www.example.com', type: 1 });
    if (question === null) throw new Error('unreachable');
    const answer = answerTo(question, 0, ['93.184.216.34'], 60);
    expect(answer.toString('hex')).toBe(
      '123481800001000100000000' +
        ask('WWW.Example.com').subarray(12).toString('hex') +
        'c00c000100010000003c00045db8d822',
    );
  });

  it('ignores responses, pointers, other classes, multiple questions and truncated messages', () => {
    const good = ask('a.example');
    for (let length = 0; length < good.length; length += 1) expect(parseQuestion(good.subarray(0, length))).toBeNull();
    const changed = (at: number, value: number): Buffer => {
      const copy = Buffer.from(good);
      copy[at] = value;
      return copy;
    };
    for (const wrong of [
      changed(2, 0x81),
      changed(5, 2),
      changed(12, 0xc0),
      changed(good.length - 1, 3),
      changed(2, 0x28),
    ]) {
      expect(parseQuestion(wrong)).toBeNull();
    }
  });

  it('parses any bytes without throwing', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => void parseQuestion(Buffer.from(bytes))));
  });
});
