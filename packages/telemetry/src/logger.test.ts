import { describe, expect, it } from 'vitest';
import { createLogger, type Logger } from './logger.ts';

/** A logger that writes to memory, and its output. */
function recording(): { log: Logger; text: () => string; lines: () => Record<string, unknown>[] } {
  const chunks: string[] = [];
  const log = createLogger({ level: 'trace', name: 'test', destination: { write: (line) => void chunks.push(line) } });
  return {
    log,
    text: () => chunks.join(''),
    lines: () => chunks.map((line) => JSON.parse(line) as Record<string, unknown>), // our own JSON lines
  };
}

describe('createLogger', () => {
  it('writes one JSON line with time, level and name', () => {
    const { log, lines } = recording();
    log.info({ count: 3 }, 'started');
    expect(lines()).toEqual([{ level: 'info', time: expect.any(String), name: 'test', count: 3, msg: 'started' }]);
  });

  it.each([
    ['at the top', { token: 'hunter2' }],
    ['in the headers of a request', { req: { headers: { authorization: 'hunter2', cookie: 'hunter2' } } }],
    ['in headers of any case', { headers: { 'Set-Cookie': ['a=hunter2'], 'X-CSRF-Token': 'hunter2' } }],
    ['six levels down', { a: { b: { c: { d: { e: { secretAccessKey: 'hunter2' } } } } } }],
    ['in a list', { tokens: [{ access_token: 'hunter2' }, { accessToken: 'hunter2' }] }],
    ['as an object', { secret: { value: 'hunter2' } }],
    ['as a subprotocol', { headers: { 'sec-websocket-protocol': 'sandbox.v1, bearer.hunter2' } }],
    [
      'below the depth that is written',
      { a: { b: { c: { d: { e: { f: { g: { h: { i: { j: 'hunter2' } } } } } } } } } },
    ],
  ])('hides a secret field %s', (_where, fields) => {
    const { log, text } = recording();
    log.info(fields, 'message');
    expect(text()).not.toContain('hunter2');
    expect(text()).toContain('message');
  });

  it('hides secrets in the bindings of a child logger', () => {
    const { log, text, lines } = recording();
    log.child({ token: 'hunter2 "quoted" rest', nested: { password: 'hunter2' } }).info('message');
    expect(text()).not.toMatch(/hunter2|rest/);
    expect(lines()).toHaveLength(1);
  });

  it('hides tokens inside messages, URLs and values of harmless fields', () => {
    const { log, text } = recording();
    log.info({ url: '/x?token=hunter2hunter2', note: 'svc_pat_hunter2' }, 'got Bearer hunter2hunter2');
    expect(text()).not.toContain('hunter2');
  });

  it('hides secrets in an error, in its own fields and in every cause below it', () => {
    const { log, text, lines } = recording();
    const deepest = Object.assign(new Error('refused svc_agt_hunter2'), { headers: { authorization: 'hunter2' } });
    const middle = new Error('answer was {"access_token":"hunter2","password": "hunter2"}', { cause: deepest });
    log.error({ err: new Error('outer postgres://u:hunter2@h/d', { cause: middle }) }, 'failed');
    expect(text()).not.toContain('hunter2');
    expect(lines()[0]).toMatchObject({
      err: {
        type: 'Error',
        message: 'outer postgres://u:***@h/d',
        cause: { cause: { message: 'refused svc_agt_***', headers: { authorization: '***' } } },
      },
    });
  });

  it('hides secrets of an error that is logged without a message', () => {
    const { log, text } = recording();
    log.error(new Error('token=hunter2'));
    expect(text()).not.toContain('hunter2');
  });

  it('shows the errors of an AggregateError', () => {
    const { log, lines } = recording();
    log.error({ err: new AggregateError([new Error('first'), new Error('second')], 'both') }, 'failed');
    expect(lines()[0]).toMatchObject({ err: { errors: [{ message: 'first' }, { message: 'second' }] } });
  });

  it('survives causes and objects that point at themselves', () => {
    const { log, lines } = recording();
    const looped = new Error('loop');
    looped.cause = looped;
    const circle: Record<string, unknown> = { name: 'circle' };
    for (const name of 'abcdefghijkl') circle[name] = circle;
    log.error({ err: looped, circle }, 'failed');
    expect(lines()).toHaveLength(1);
  });

  it('shows that a secret is absent', () => {
    const { log, lines } = recording();
    log.info({ token: null, password: '' }, 'message');
    expect(lines()[0]).toMatchObject({ token: null, password: '' });
  });
});
