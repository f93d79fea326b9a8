import { describe, expect, it } from 'vitest';
import { defaultFraming } from './default-framing.ts';
import type { Framing } from './framing.ts';
import { SendBuffers } from './send-buffers.ts';
import { v1Framing } from './v1-framing.ts';

const LARGE_BYTES = 40_000;

const framings: readonly (readonly [string, (buffers: SendBuffers) => Framing, number])[] = [
  ['the default one in binary', (buffers) => defaultFraming('binary', buffers), 0],
  ['sandbox.v1', (buffers) => v1Framing(buffers), 9],
];

describe.each(framings)('the framing %s', (_name, make, headerBytes) => {
  const readMessage = (framing: Framing, bytes: Buffer): Buffer => {
    const [message, ...more] = framing.output(bytes, 1);
    expect(more).toEqual([]);
    if (!Buffer.isBuffer(message)) throw new Error('a message of bytes was expected');
    return message;
  };

  it('returns messages that do not change when the input buffer is overwritten, however many are pending', () => {
    const framing = make(new SendBuffers());
    const lent = Buffer.alloc(LARGE_BYTES);
    const waiting = Array.from({ length: 40 }, (_, index) => {
      lent.fill(index);
      return readMessage(framing, lent);
    });
    for (const [index, message] of waiting.entries()) {
      expect(message.subarray(headerBytes).equals(Buffer.alloc(LARGE_BYTES, index))).toBe(true);
    }
  });

  it('reuses the buffer of a large message after it was sent', () => {
    const buffers = new SendBuffers();
    const framing = make(buffers);
    const used = new Set<ArrayBufferLike>();
    for (let index = 0; index < 100; index += 1) {
      const message = readMessage(framing, Buffer.alloc(LARGE_BYTES, index));
      used.add(message.buffer);
      buffers.give(message);
    }
    expect(used.size).toBe(1);
  });

  it('uses no pooled buffer for a small message', () => {
    const buffers = new SendBuffers();
    const small = readMessage(make(buffers), Buffer.from('x'));
    expect(small.buffer).not.toBe(buffers.take(LARGE_BYTES).buffer);
    buffers.give(small);
    expect(buffers.take(LARGE_BYTES).buffer).not.toBe(small.buffer);
  });
});

describe.each([
  ['the default framing', (buffers: SendBuffers) => defaultFraming('text', buffers)],
  ['the framing sandbox.v1', (buffers: SendBuffers) => v1Framing(buffers)],
])('%s', (_name, make) => {
  it.each([
    '{"type":"resize"}',
    '{"type":"resize","cols":"80","rows":"24"}',
    '{"type":"resize","cols":-1,"rows":24}',
    '{"type":"resize","cols":80.5,"rows":24}',
    '{"type":"resize","cols":80,"rows":65536}',
    '{"type":"signal"}',
    '{"type":"signal","name":9}',
    `{"type":"signal","name":"${'A'.repeat(33)}"}`,
    '{"type":"ack","bytes":-1}',
    '{"type":"ack"}',
  ])('drops %s', (text) => {
    expect(make(new SendBuffers()).input(Buffer.from(text), false)).toEqual({ kind: 'unusable' });
  });
});

describe('text in the default framing', () => {
  const input = (text: string) => defaultFraming('text', new SendBuffers()).input(Buffer.from(text), false);

  it.each(['{"a":1}', '{"type":"unknown"}', '{"type":"resize"', '["resize"]', 'resize', '{}'])('types %s', (text) => {
    expect(input(text)).toEqual({ kind: 'stdin', bytes: Buffer.from(text) });
  });

  it('types the data of an input control, and drops one without data', () => {
    expect(input('{"type":"input","data":"ls\\r"}')).toEqual({ kind: 'stdin', bytes: Buffer.from('ls\r') });
    expect(input('{"type":"input","data":1}')).toEqual({ kind: 'unusable' });
  });
});
