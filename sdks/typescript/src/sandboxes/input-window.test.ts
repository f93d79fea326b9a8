import { describe, expect, it } from 'vitest';
import { SvcError } from '../errors.ts';
import { InputWindow } from './input-window.ts';
import type { TerminalConnection } from './v1-connection.ts';

const KiB = 1024;

function connection(): TerminalConnection & { sentBytes: number } {
  const made = {
    sentBytes: 0,
    bufferedBytes: 0,
    type(bytes: Uint8Array) {
      made.sentBytes += bytes.length;
    },
    control: () => undefined,
    acknowledge: () => undefined,
    close: () => undefined,
  };
  return made;
}

describe('terminal input', () => {
  it('waits for the first message, then never exceeds the window in flight', async () => {
    const window = new InputWindow();
    const terminal = connection();
    const sent = window.send(new Uint8Array(300 * KiB), () => terminal);
    expect(terminal.sentBytes).toBe(0);
    window.begin(128 * KiB);
    await expect.poll(() => terminal.sentBytes).toBe(128 * KiB);
    window.taken(64 * KiB);
    await expect.poll(() => terminal.sentBytes).toBe(192 * KiB);
    window.taken(128 * KiB);
    await sent;
    expect(terminal.sentBytes).toBe(300 * KiB);
  });

  it('keeps the order of concurrent writers', async () => {
    const window = new InputWindow();
    const typed: number[] = [];
    const terminal = { ...connection(), type: (bytes: Uint8Array) => void typed.push(bytes[0] ?? 0) };
    window.begin(64 * KiB);
    const all = [1, 2, 3].map((value) => window.send(new Uint8Array(64 * KiB).fill(value), () => terminal));
    await all[0];
    window.taken(64 * KiB);
    await all[1];
    window.taken(64 * KiB);
    await all[2];
    expect(typed).toEqual([1, 2, 3]);
  });

  it('is rejected when the connection is lost, even while it waits', async () => {
    const window = new InputWindow();
    let current: TerminalConnection | null = connection();
    const sent = window.send(new Uint8Array(10), () => current);
    current = null;
    window.end();
    await expect(sent).rejects.toBeInstanceOf(SvcError);
    await expect(window.send(new Uint8Array(1), () => null)).rejects.toBeInstanceOf(SvcError);
  });

  describe('on the next connection', () => {
    const text = (bytes: Uint8Array[]): string => Buffer.concat(bytes).toString();
    const recording = () => {
      const typed: Uint8Array[] = [];
      return { ...connection(), typed, type: (bytes: Uint8Array) => void typed.push(bytes) };
    };
    const sendTo = async (takenBytes: number | 'reported' | null) => {
      const window = new InputWindow();
      const next = recording();
      let current: TerminalConnection | null = connection();
      window.begin(128 * KiB);
      for (const each of ['one ', 'two ', 'three ']) await window.send(Buffer.from(each), () => current);
      window.taken(5); // "one t"
      current = null;
      window.pause();
      const later = window.send(Buffer.from('four'), () => current);
      current = next;
      window.resume(128 * KiB, next, takenBytes);
      return { next, later };
    };

    it('sends what the server has not taken before what was typed meanwhile', async () => {
      const { next, later } = await sendTo(8);
      await later;
      expect(text(next.typed)).toBe('three four');
    });

    it('relies on what the server has reported if it said all', async () => {
      const { next, later } = await sendTo('reported');
      await later;
      expect(text(next.typed)).toBe('wo three four');
    });

    it('sends nothing twice if the server does not know, and says so to a waiting writer', async () => {
      const { next, later } = await sendTo(null);
      await expect(later).rejects.toThrow('what was typed last');
      expect(next.typed).toEqual([]);
    });

    it('rejects waiting writers if none follows', async () => {
      const window = new InputWindow();
      window.begin(128 * KiB);
      window.pause();
      const sent = window.send(new Uint8Array(1), () => null);
      window.end();
      await expect(sent).rejects.toThrow('not connected');
    });
  });
});
