import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createClient } from '../client.ts';
import { CommandFailedError, NetworkError, NotFoundError } from '../errors.ts';
import type { LogOptions, LogRequest } from './logs.ts';

type Answer = (response: ServerResponse) => void;

describe('a followed log', () => {
  let server: Server;
  let queries: URLSearchParams[];
  let answers: Answer[];
  let losing: { response: ServerResponse; unread: number } | undefined;

  beforeEach(async () => {
    [queries, answers, losing] = [[], [], undefined];
    server = createServer((request, response) => {
      queries.push(new URL(request.url ?? '', 'http://platform').searchParams);
      answers.shift()?.(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const pieces =
    (events: readonly object[], then: 'lost' | 'ended' | { status: string; error?: object }): Answer =>
    (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const text = events.map((data) => `event: log\ndata: ${JSON.stringify(data)}\n\n`).join('');
      if (typeof then === 'object') return response.end(`${text}event: end\ndata: ${JSON.stringify(then)}\n\n`);
      if (then === 'ended') return response.end(text);
      // Cut only after the reader has everything: data still in a broken connection may or may not be read.
      losing = { response, unread: events.length };
      response.write(text);
    };
  const refused =
    (status: number): Answer =>
    (response) =>
      response.writeHead(status).end(JSON.stringify({ error: { code: 'X', message: 'no', details: {} } }));

  async function read(request: Partial<LogRequest> = {}, options: LogOptions = {}): Promise<string> {
    const { port } = server.address() as AddressInfo; // a listening TCP server
    const { clusters } = createClient({ baseUrl: `http://127.0.0.1:${port}`, credential: { kind: 'none' } });
    const wanted = { pod: 'web', namespace: 'shop', follow: true, ...request };
    let text = '';
    for await (const piece of clusters.of('home').logs(wanted, options)) {
      text += piece.text;
      if (losing === undefined) continue;
      losing.unread -= 1;
      if (losing.unread > 0) continue;
      losing.response.destroy();
      losing = undefined;
    }
    return text;
  }

  it('resumes after its last line when the connection is lost and while the platform restarts', async () => {
    const told: unknown[] = [];
    answers = [
      pieces(
        [
          { text: 'one\n', position: 'behind one' },
          { text: 'two\n', position: 'behind two' },
        ],
        'lost',
      ),
      refused(503),
      pieces([{ text: 'three\n', position: 'behind three' }], 'ended'),
      pieces([{ text: 'four\n', position: 'behind four' }], { status: 'succeeded' }),
    ];
    const text = await read(
      { tailLines: 7, sinceSeconds: 9, container: 'main' },
      { onReconnect: (cause) => told.push(cause) },
    );
    expect(text).toBe('one\ntwo\nthree\nfour\n');
    expect(told).toHaveLength(3);
    expect(queries.map((query) => query.get('resume_after'))).toEqual([
      null,
      'behind two',
      'behind two',
      'behind three',
    ]);
    expect(queries.map((query) => query.get('tail_lines'))).toEqual(['7', null, null, null]);
    expect(queries.map((query) => query.get('since_seconds'))).toEqual(['9', null, null, null]);
    expect(queries.map((query) => query.get('container'))).toEqual(['main', 'main', 'main', 'main']);
  });

  it('starts over if nothing arrived, and then includes lines written since the first request', async () => {
    answers = [pieces([{ text: '' }], 'lost'), pieces([{ text: 'one\n' }], { status: 'succeeded' })];
    expect(await read({ tailLines: 0 })).toBe('one\n');
    expect(queries[1]?.get('tail_lines')).toBeNull();
    expect(Number(queries[1]?.get('since_seconds'))).toBeGreaterThanOrEqual(1);
    answers = [pieces([{ text: '' }], 'lost'), pieces([{ text: 'one\n' }], { status: 'succeeded' })];
    expect(await read({ tailLines: 5 })).toBe('one\n');
    expect(queries[3]?.get('tail_lines')).toBe('5');
  });

  it('gives up after too many consecutive attempts, and without a known position', async () => {
    answers = [pieces([{ text: 'one\n', position: 'behind one' }], 'lost'), refused(503), refused(503), refused(503)];
    await expect(read({}, { maxReconnects: 2 })).rejects.toThrow(NetworkError);
    expect(queries).toHaveLength(3);
    answers = [pieces([{ text: 'one\n' }], 'lost')];
    await expect(read()).rejects.toThrow(NetworkError);
    answers = [pieces([{ text: 'one\n', position: 'behind one' }], 'lost')];
    await expect(read({ follow: false })).rejects.toThrow(NetworkError);
    expect(queries).toHaveLength(5);
  });

  it('fails immediately when the platform refuses it or the agent reports why it ended', async () => {
    answers = [refused(404)];
    await expect(read()).rejects.toThrow(NotFoundError);
    answers = [pieces([{ text: 'one\n', position: 'behind one' }], 'lost'), refused(404)];
    await expect(read()).rejects.toThrow(NotFoundError);
    answers = [pieces([], { status: 'failed', error: { code: 'FORBIDDEN', message: 'no logs' } })];
    await expect(read()).rejects.toThrow(CommandFailedError);
    expect(queries).toHaveLength(4);
  });
});
