import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readLogLines, type LogLine } from './log-lines.ts';
import { SeenLines } from './seen-lines.ts';

async function readLines(chunks: readonly string[], maxLineBytes = 64): Promise<LogLine[]> {
  const lines: LogLine[] = [];
  for await (const line of readLogLines(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), maxLineBytes)) {
    lines.push(line);
  }
  return lines;
}

const TIME = '2026-11-21T09:30:00.000000001Z';

describe('log lines', () => {
  it('are the same however the stream is split, with separate timestamps', async () => {
    const whole = `${TIME} one\n${TIME} two\nno time\n${TIME} last`;
    const expected = [
      { time: TIME, text: 'one\n', begins: true },
      { time: TIME, text: 'two\n', begins: true },
      { time: '', text: 'no time\n', begins: true },
      { time: TIME, text: 'last', begins: true },
    ];
    expect(await readLines([whole])).toEqual(expected);
    expect(await readLines([...whole])).toEqual(expected);
  });

  it('are split when too long, without losing anything', async () => {
    const long = 'x'.repeat(300);
    const lines = await readLines([`${TIME} ${long}\n${TIME} short\n`]);
    expect(lines.filter(({ begins }) => begins)).toHaveLength(2);
    expect(lines.map(({ text }) => text).join('')).toBe(`${long}\nshort\n`);
  });
});

describe('repeated lines after a reconnect', () => {
  const line = (second: number, text: string): LogLine => ({
    time: `2026-11-21T09:30:${String(second).padStart(2, '0')}.000000000Z`,
    text,
    begins: true,
  });

  it('are dropped as often as they were seen', () => {
    const seen = new SeenLines();
    for (const each of [line(1, 'a'), line(2, 'b'), line(2, 'b')]) expect(seen.isRepeated(each)).toBe(false);
    seen.beginReplay();
    const again = [line(2, 'b'), line(2, 'b'), line(2, 'b'), line(2, 'c'), line(3, 'd'), line(1, 'late')];
    expect(again.map((each) => seen.isRepeated(each))).toEqual([true, true, false, false, false, false]);
    expect(seen.lastTime).toBe(line(3, '').time);
  });

  it('are dropped by time if they are older than all remembered lines', () => {
    const seen = new SeenLines();
    for (let index = 0; index < 6000; index += 1) seen.isRepeated(line(Math.floor(index / 600) + 10, String(index)));
    seen.beginReplay();
    expect(seen.isRepeated(line(10, '5'))).toBe(true);
    expect(seen.isRepeated(line(19, '5999'))).toBe(true);
    expect(seen.isRepeated(line(19, 'new'))).toBe(false);
  });

  it('are dropped with the continuations of a long line', () => {
    const seen = new SeenLines();
    const part: LogLine = { time: '', text: 'rest', begins: false };
    expect([seen.isRepeated(line(1, 'long')), seen.isRepeated(part)]).toEqual([false, false]);
    seen.beginReplay();
    expect([seen.isRepeated(line(1, 'long')), seen.isRepeated(part)]).toEqual([true, true]);
  });
});
