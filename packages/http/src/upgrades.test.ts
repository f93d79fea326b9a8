import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { accessErrors, type HeldRight, HeldRights } from '@svc/access';
import { fakeClock, waitFor, type FakeClock } from '@svc/testing';
import { createLogger } from '@svc/telemetry';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { httpErrors } from './errors.ts';
import { createListener, type Listener } from './listener.ts';
import { renderNestedError } from './renderers.ts';
import { UpgradeRouter, type UpgradeRequest, type UpgradeRoute } from './upgrades.ts';

interface Line {
  level: string;
  msg: string;
  [field: string]: unknown;
}

let router: UpgradeRouter;
let listener: Listener;
let port: number;
let lines: Line[];
let clock: FakeClock;
let rights: HeldRights;

beforeEach(async () => {
  lines = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Line); // our own JSON lines
  clock = fakeClock();
  rights = new HeldRights({
    nowMs: () => clock.nowMs(),
    setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
    onError: (error) => expect.unreachable(String(error)),
  });
  router = new UpgradeRouter(createLogger({ level: 'info', name: 'test', destination: { write } }), rights);
  listener = createListener({
    handler: (_request, response) => void response.end('plain'),
    onUpgrade: router.dispatch,
    onClosing: () => router.drain(),
  });
  port = await listener.listen(0, '127.0.0.1');
});

afterEach(() => listener.close(0));

function route(path: string, handle: UpgradeRoute['handle'], rest: Partial<UpgradeRoute> = {}): void {
  const hold = { exempt: 'a test' };
  router.add({ name: path, hold, matches: (_request, url) => url.pathname === path, handle, ...rest });
}

async function upgrade(path: string, rest = ''): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n${rest}`);
  return socket;
}

const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n';
const errorLines = () => lines.filter((line) => line.level === 'error');

describe('UpgradeRouter', () => {
  it('hands socket, early bytes, URL and request id to the route that matches', async () => {
    let seen: UpgradeRequest | undefined;
    route('/other', async () => undefined);
    route('/echo', async (request) => {
      seen = request;
      request.socket.end(`${switching}${request.head.toString()}`);
    });
    const answer = await text(await upgrade('/echo?cols=80&token=hunter2', 'early'));
    expect(answer).toMatch(/^HTTP\/1\.1 101 [^]*early$/);
    expect(seen?.url.searchParams.get('cols')).toBe('80');
    expect(seen?.requestId).toMatch(/^req_/);
    expect(lines).toEqual([expect.objectContaining({ msg: 'upgrade', status: 101, url: '/echo?cols=80&token=***' })]);
  });

  it('answers an unknown path with 404 and closes, also when the client keeps its half open', async () => {
    const socket = await upgrade('/nothing');
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
    expect(answer).toMatch(/connection: close/);
    expect(answer).toContain('"code":"NOT_FOUND"');
    await waitFor(() => listener.connectionCount() === 0);
    socket.destroy();
  });

  it('answers what the handler throws with its status, headers and body, in the shape of the route', async () => {
    route(
      '/busy',
      async () => {
        throw httpErrors.TOO_MANY_REQUESTS({ headers: { 'retry-after': '7' } });
      },
      { render: renderNestedError },
    );
    const answer = await text(await upgrade('/busy'));
    expect(answer).toMatch(/^HTTP\/1\.1 429 Too Many Requests\r\n[^]*retry-after: 7\r\n/);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toEqual({
      error: {
        code: 'TOO_MANY_REQUESTS',
        message: 'Rate limit exceeded',
        details: { field: 'request', reason: 'Rate limit exceeded' },
      },
    });
    expect(errorLines()).toEqual([]);
  });

  it('answers an unknown fault with 500 and nothing of it, and logs it once', async () => {
    route('/fault', async () => {
      throw new Error('password=hunter2');
    });
    const answer = await text(await upgrade('/fault'));
    expect(answer).toMatch(/^HTTP\/1\.1 500 /);
    expect(answer).toContain('"internal_error"');
    expect(answer).not.toContain('hunter2');
    expect(errorLines()).toHaveLength(1);
  });

  it('takes a route whose match throws for a fault too', async () => {
    router.add({
      name: 'broken',
      hold: { exempt: 'a test' },
      matches: () => {
        throw new Error('cannot say');
      },
      handle: async () => undefined,
    });
    expect(await text(await upgrade('/any'))).toMatch(/^HTTP\/1\.1 500 /);
    expect(errorLines()).toHaveLength(1);
  });

  it('never writes HTTP into a socket that speaks another protocol already', async () => {
    route('/late', async ({ socket }) => {
      socket.write(switching);
      throw new Error('too late');
    });
    expect(await text(await upgrade('/late'))).toBe(switching);
    expect(errorLines()).toHaveLength(1);
  });

  it('survives a socket that is reset while the handler works', async () => {
    let release: (() => void) | undefined;
    route('/slow', async () => {
      await new Promise<void>((resolve) => (release = resolve));
      throw accessErrors.FORBIDDEN();
    });
    const socket = await upgrade('/slow');
    await waitFor(() => release !== undefined);
    const left = once(socket, 'close');
    socket.resetAndDestroy();
    await left;
    release?.();
    await waitFor(() => lines.some((line) => line.status === 403));
    expect(await text(await upgrade('/slow-no-more'))).toMatch(/^HTTP\/1\.1 404 /);
  });

  it('lets owners close their sockets politely when the listener closes, and survives one that cannot', async () => {
    const open: UpgradeRequest[] = [];
    const take: UpgradeRoute['handle'] = async (request) => {
      request.socket.write(switching);
      open.push(request);
    };
    route('/polite', take, { drain: () => void open[0]?.socket.end('goodbye') });
    route('/broken', take, {
      drain: async () => {
        throw new Error('cannot');
      },
    });
    const socket = await upgrade('/polite');
    await waitFor(() => open.length === 1);
    const ending = text(socket);
    await listener.close(60_000);
    expect(await ending).toMatch(/goodbye$/);
    expect(errorLines()).toEqual([expect.objectContaining({ msg: 'closing upgraded sockets failed' })]);
  });
});

describe('the right to an upgraded socket', () => {
  const right = (check: HeldRight['check']): HeldRight => ({
    key: 'one',
    exactKey: 'one',
    confirmedAtMs: clock.nowMs(),
    check,
  });
  const gone = (): Promise<void> => Promise.reject(accessErrors.FORBIDDEN());

  it('is declared by each route, or the route is not registered', () => {
    const matches = (): boolean => true;
    // not from a typed caller
    const bare = { name: 'bare', matches, handle: async () => undefined } as unknown as UpgradeRoute;
    expect(() => router.add(bare)).toThrow(/bare declares neither a hold nor why/);
    expect(() => router.addFirst({ ...bare, hold: { exempt: '' } })).toThrow(/bare/);
    expect(router.routes).toEqual([]);
  });

  it('is held, or the socket is cut and the fault is logged', async () => {
    route('/unheld', async ({ socket }) => void socket.write(`${switching}secret`), { hold: 'required' });
    await text(await upgrade('/unheld'));
    expect(errorLines()).toHaveLength(1);
  });

  it('ends the socket, by the farewell of its protocol, and nothing is delivered afterwards', async () => {
    const opened = Promise.withResolvers<UpgradeRequest['socket']>();
    route(
      '/polite',
      async ({ socket, hold }) => {
        socket.write(switching);
        hold(right(gone)).farewell(({ status }) => void socket.write(`bye ${status}`));
        opened.resolve(socket);
      },
      { hold: 'required' },
    );
    const received = text(await upgrade('/polite'));
    const socket = await opened.promise;
    await clock.advance(1_500);
    expect(await received).toBe(`${switching}bye 403`);
    expect(socket.destroyed).toBe(true);
    expect(rights.size).toBe(0);
  });

  it('cuts a client that is behind, since all that waits would still be delivered', async () => {
    let farewells = 0;
    const opened = Promise.withResolvers<UpgradeRequest['socket']>();
    route(
      '/slow',
      async ({ socket, hold }) => {
        socket.write(switching);
        hold(right(gone)).farewell(() => void (farewells += 1));
        socket.write(Buffer.alloc(64 * 1024 * 1024));
        opened.resolve(socket);
      },
      { hold: 'required' },
    );
    const client = await upgrade('/slow');
    client.pause();
    const socket = await opened.promise;
    await clock.advance(1_500);
    expect(socket.destroyed).toBe(true);
    expect(farewells).toBe(0);
    client.destroy();
  });

  it('is refused as an ordinary HTTP error while the handshake still waits', async () => {
    const asked = Promise.withResolvers<void>();
    route(
      '/waiting',
      ({ socket, hold }) => {
        hold(right(gone));
        asked.resolve();
        return new Promise((resolve) => socket.once('close', resolve));
      },
      { hold: 'required' },
    );
    const answer = text(await upgrade('/waiting'));
    await asked.promise;
    await clock.advance(1_500);
    expect(await answer).toMatch(/^HTTP\/1\.1 403 /);
  });

  it('is released with the socket', async () => {
    route(
      '/over',
      async ({ socket, hold }) => {
        hold(right(gone));
        socket.end(switching);
      },
      { hold: 'required' },
    );
    const client = await upgrade('/over');
    await text(client);
    client.end();
    await waitFor(() => rights.size === 0);
  });
});
