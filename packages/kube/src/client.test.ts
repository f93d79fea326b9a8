import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { ClusterAccess, TokenSource } from './access.ts';
import { createKubeClient, type KubeClient } from './client.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

const podKinds = {
  kind: 'APIResourceList',
  resources: [{ name: 'pods', kind: 'Pod', namespaced: true, verbs: ['list'] }],
};

/** A client of a misbehaving server; other tests use a real one. */
async function createClient(answer: Answer, token?: TokenSource): Promise<KubeClient> {
  const server = createServer((request, response) => {
    if (request.url === '/api/v1') response.end(JSON.stringify(podKinds));
    else answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const access: ClusterAccess = {
    server: new URL(`http://127.0.0.1:${port}`),
    insecureSkipVerify: false,
    namespace: 'default',
    token: token ?? { current: () => Promise.resolve(null), invalidate: () => undefined },
  };
  const client = createKubeClient(access);
  opened.push({
    close: async () => {
      client.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  return client;
}

const pod = { apiVersion: 'v1', kind: 'Pod' };

describe('the Kubernetes client', () => {
  it('rereads its token and retries once after a refusal', async () => {
    const tokens = ['old', 'new'];
    const seen: (string | undefined)[] = [];
    const token = { current: () => Promise.resolve(tokens[0] ?? null), invalidate: () => void tokens.shift() };
    const client = await createClient((request, response) => {
      seen.push(request.headers.authorization);
      response.statusCode = request.headers.authorization === 'Bearer new' ? 200 : 401;
      response.end('{"gitVersion":"v1"}');
    }, token);
    expect((await client.version()).gitVersion).toBe('v1');
    expect(seen).toEqual(['Bearer old', 'Bearer new']);
  });

  it('reports the text of a proxy that returns its own page', async () => {
    const client = await createClient((_request, response) => {
      response.writeHead(503, { 'retry-after': '7' }).end('<h1>upstream is away</h1>');
    });
    await expect(client.raw('/healthz')).rejects.toMatchObject({
      status: 503,
      message: '<h1>upstream is away</h1>',
      retryAfterSeconds: 7,
      retryable: true,
    });
  });

  it('reports an unreachable server', async () => {
    const client = await createClient((request) => request.socket.destroy());
    await expect(client.ready()).rejects.toMatchObject({ code: 'KUBERNETES_UNREACHABLE', status: 503 });
  });

  it('reports a server that switches protocols unasked as unreachable', async () => {
    const client = await createClient((request) => {
      request.socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
    });
    await expect(client.raw('/healthz')).rejects.toMatchObject({ code: 'KUBERNETES_UNREACHABLE', status: 503 });
  });

  it('ends at once when the caller aborts, before and during a request', async () => {
    const controller = new AbortController();
    const client = await createClient(() => controller.abort(new Error('stopped')));
    await expect(client.raw('/slow', controller.signal)).rejects.toThrow('stopped');
    await expect(client.raw('/slow', controller.signal)).rejects.toThrow('stopped');
  });

  it('continues a list with the new token if a page’s token expired', async () => {
    const client = await createClient((request, response) => {
      const asked = new URL(request.url ?? '', 'http://host').searchParams.get('continue');
      const page = (name: string, next?: string) =>
        JSON.stringify({ metadata: { resourceVersion: '5', continue: next }, items: [{ metadata: { name } }] });
      if (asked === null) response.end(page('a', 'expired'));
      else if (asked === 'fresh') response.end(page('b'));
      else {
        response.statusCode = 410;
        response.end(JSON.stringify({ kind: 'Status', code: 410, reason: 'Expired', metadata: { continue: 'fresh' } }));
      }
    });
    const names: string[] = [];
    for await (const page of client.list(pod)) names.push(...page.items.map((item) => item.metadata.name));
    expect(names).toEqual(['a', 'b']);
  });

  it('ends a silent watch', async () => {
    const client = await createClient((_request, response) => response.writeHead(200).flushHeaders());
    const watch = client.watch(pod, { resourceVersion: '1', idleTimeoutMs: 20 });
    await expect(watch.next()).rejects.toMatchObject({ code: 'WATCH_IDLE' });
  });

  it.each([
    [
      'an expired version',
      '{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}',
      { status: 410 },
    ],
    ['a line that is not JSON', 'hello', { code: 'KUBERNETES_ANSWER_INVALID' }],
    ['an unknown event', '{"type":"SURPRISE","object":{}}', { code: 'KUBERNETES_ANSWER_INVALID' }],
  ])('ends a watch with an error after %s', async (_what, line, error) => {
    const client = await createClient((_request, response) => void response.end(`${line}\n`));
    await expect(client.watch(pod, { resourceVersion: '1' }).next()).rejects.toMatchObject(error);
  });

  it.each(['..', '.', '', 'a/b', 'a%2fb'])('rejects %j as a name, which would leave the collection', async (name) => {
    const client = await createClient((_request, response) => void response.end('{}'));
    await expect(client.get({ ...pod, namespace: 'default', name })).rejects.toMatchObject({ code: 'INVALID_NAME' });
  });
});
