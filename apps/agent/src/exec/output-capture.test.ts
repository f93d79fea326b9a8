import type { CommandOutput } from '@svc/protocol';
import { fakeClock } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { OutputCapture } from './output-capture.ts';

type Sent = Omit<CommandOutput, 'command_id' | 'seq'>;

function capture(options: { live?: boolean; maxBytes?: number; send?: (piece: Sent) => Promise<void> } = {}) {
  const sent: Sent[] = [];
  const clock = fakeClock();
  const flow: string[] = [];
  const made = new OutputCapture({
    clock,
    live: options.live ?? false,
    maxBytes: options.maxBytes ?? 1024 * 1024,
    send: async (piece) => {
      await options.send?.(piece);
      sent.push(piece);
    },
    hold: () => flow.push('hold'),
    release: () => flow.push('release'),
  });
  return { made, sent, clock, flow };
}

function textOf(sent: readonly Sent[], stream: string): string {
  return Buffer.concat(
    sent.filter((each) => each.stream === stream).map(({ data, encoding }) => Buffer.from(data, encoding)),
  ).toString();
}

describe('the output of a command', () => {
  it('is in the result while each stream fits into 64 KiB', async () => {
    const { made, sent } = capture();
    made.add('stdout', Buffer.from('one '));
    made.add('stderr', Buffer.from('err'));
    made.add('stdout', Buffer.from('two'));
    expect(await made.end()).toEqual({
      stdout_bytes: 7,
      stderr_bytes: 3,
      truncated: false,
      stdout: 'one two',
      stderr: 'err',
      encoding: 'utf8',
    });
    expect(sent).toEqual([]);
  });

  it('is base64 if it is not UTF-8', async () => {
    const { made } = capture();
    made.add('stdout', Buffer.from([0xff, 0x00]));
    expect(await made.end()).toMatchObject({ stdout: '/wA=', encoding: 'base64' });
  });

  it('is sent completely in chunks once a stream is larger', async () => {
    const { made, sent } = capture();
    made.add('stderr', Buffer.from('before '));
    const large = Buffer.alloc(200_000, 'x');
    made.add('stdout', large);
    const result = await made.end();
    expect(result).toEqual({ stdout_bytes: 200_000, stderr_bytes: 7, truncated: false });
    expect(textOf(sent, 'stdout')).toBe(large.toString());
    expect(textOf(sent, 'stderr')).toBe('before ');
    expect(sent.every(({ data }) => data.length <= 65_536)).toBe(true);
  });

  it('is cut at the limit and marked as truncated', async () => {
    const { made } = capture({ maxBytes: 5 });
    made.add('stdout', Buffer.from('1234567'));
    made.add('stderr', Buffer.from('more'));
    expect(await made.end()).toMatchObject({ stdout: '12345', stderr: '', stdout_bytes: 5, truncated: true });
  });

  it('never splits a character between two chunks', async () => {
    const { made, sent, clock } = capture({ live: true });
    const euro = Buffer.from('€');
    made.add('stdout', euro.subarray(0, 2));
    await clock.advance(250);
    made.add('stdout', euro.subarray(2));
    await made.end();
    expect(sent).toEqual([{ stream: 'stdout', encoding: 'utf8', data: '€' }]);
  });

  it('pauses the process until the platform accepts the output', async () => {
    const gate = Promise.withResolvers<void>();
    const { made, flow } = capture({ live: true, send: () => gate.promise });
    for (let index = 0; index < 8; index += 1) made.add('stdout', Buffer.alloc(65_536, 'x'));
    expect(flow).toEqual(['hold']);
    gate.resolve();
    expect(await made.end()).toMatchObject({ stdout_bytes: 8 * 65_536, truncated: false });
    expect(flow).toEqual(['hold', 'release']);
  });

  it('is marked as truncated if it could not be sent', async () => {
    const { made } = capture({ live: true, send: () => Promise.reject(new Error('cancelled')) });
    made.add('stdout', Buffer.from('lost'));
    expect(await made.end()).toMatchObject({ stdout_bytes: 4, truncated: true });
  });
});
