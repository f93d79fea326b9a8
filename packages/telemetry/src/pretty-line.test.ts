import { describe, expect, it } from 'vitest';
import { createLogger, type Logger } from './logger.ts';
import { REDACTED } from './redact.ts';

function recording(): { log: Logger; text: () => string } {
  const chunks: string[] = [];
  const destination = { write: (line: string) => void chunks.push(line) };
  const log = createLogger({ level: 'trace', name: 'test', format: 'pretty', destination });
  return { log, text: () => chunks.join('').replaceAll(/^\d\d:\d\d:\d\d\.\d{3}/gm, 'TIME') };
}

describe('lines for people', () => {
  it('say when, how bad, what, and its fields', () => {
    const { log, text } = recording();
    log.info({ port: 4000, host: '127.0.0.1', path: 'a b', tags: ['x'] }, 'listening');
    log.warn('alone');
    expect(text()).toBe('TIME INFO  listening port=4000 host=127.0.0.1 path="a b" tags=["x"]\nTIME WARN  alone\n');
  });

  it('name an error and its causes, with the stack where somebody has to look', () => {
    const { log, text } = recording();
    const error = new Error('not stored', { cause: Object.assign(new Error('no space'), { code: 'ENOSPC' }) });
    log.warn({ err: error }, 'tried');
    expect(text()).toBe('TIME WARN  tried\n    not stored\n    caused by ENOSPC: no space\n');
    log.error({ err: error }, 'gave up');
    expect(text()).toMatch(/ERROR gave up\n {4}not stored\n {6}at .*pretty-line\.test\.ts/);
  });

  it('hold no secret, and nothing that steers a terminal', () => {
    const { log, text } = recording();
    log.info({ token: 'hunter2', name: 'x\u009b2J', detail: 'a\u202eb' }, 'one\ntwo \u001b[31m');
    const shown = String.raw`TIME INFO  one\u000atwo \u001b[31m token="${REDACTED}" detail="a\u202eb"`;
    expect(text()).toBe(`${shown}\n`);
  });
});

describe('the format of a logger', () => {
  it('is JSON where no terminal is', () => {
    const chunks: string[] = [];
    for (const format of [undefined, 'auto', 'json'] as const) {
      const destination = { write: (line: string) => void chunks.push(line) };
      createLogger({ level: 'info', name: 'test', destination, ...(format && { format }) }).info('m');
    }
    expect(chunks.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['m', 'm', 'm']); // our own lines
  });
});
