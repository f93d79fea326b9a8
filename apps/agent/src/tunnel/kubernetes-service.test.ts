import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { duplexPair, type Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createKubeClient, staticToken } from '@svc/kube';
import { duplexTransport, MuxSession } from '@svc/mux';
import { SANDBOX_PROFILE_PATH, SANDBOXES_SERVICE } from '@svc/protocol';
import { createLogger } from '@svc/telemetry';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LiveConfig } from '../config/live-config.ts';
import { loadAgentConfig } from '../config/load.ts';
import { createKubernetesService } from './kubernetes-service.ts';

let api: Server;
let seen: IncomingMessage[];
const endings: (() => void)[] = [];

beforeEach(async () => {
  seen = [];
  api = createServer((request, response) => {
    seen.push(request);
    request.resume().once('end', () => response.end('from the API server'));
  });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  for (const end of endings.splice(0)) end();
  api.close();
});

/** A stream served by the service, from the platform's side. */
function open(environment: Record<string, string>, role = 'member', name = 'kubernetes'): Duplex {
  const load = () =>
    loadAgentConfig({
      file: null,
      environment: { CLUSTER_NAME: 'c', SVC_API_URL: 'http://127.0.0.1:1', SVC_TOKEN: 't', ...environment },
    });
  const config = new LiveConfig(load().config, load, createLogger({ level: 'silent', name: 'test' }));
  const { port } = api.address() as AddressInfo; // a TCP listener
  const server = new URL(`http://127.0.0.1:${port}/prefix`);
  const client = createKubeClient(
    { server, insecureSkipVerify: false, token: staticToken('token-of-the-agent'), namespace: 'default' },
    { nowMs: () => 0 },
  );
  const service = createKubernetesService({ client, config, metrics: { kubernetesRequest: () => undefined } });
  const [left, right] = duplexPair();
  const agent = new MuxSession(duplexTransport(left), {
    role: 'client',
    onStream: (stream) => service.accept(stream, { service: name, user: 'svc:user:u1', role }),
  });
  const platform = new MuxSession(duplexTransport(right), { role: 'server' });
  endings.push(() => {
    agent.close();
    platform.close();
    service.close();
    client.close();
  });
  return platform.open();
}

function ask(
  stream: Duplex,
  method: string,
  headers: Record<string, string>,
  path = '/api/v1/pods',
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      method,
      path,
      headers,
      createConnection: () => stream,
      agent: undefined,
    });
    request.once('response', resolve);
    request.once('error', reject);
    request.end();
  });
}

const FORGED = {
  authorization: 'Bearer of the caller',
  cookie: 'a=1',
  'impersonate-user': 'system:admin',
  'impersonate-group': 'system:masters',
  'impersonate-extra-scopes': 'all',
  'x-remote-user': 'root',
  'x-forwarded-for': '6.6.6.6',
  'sec-websocket-protocol': 'v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.c2VjcmV0',
};

describe('the API server behind a tunnel', () => {
  it("uses the agent's identity, without any header that impersonates another user", async () => {
    const answer = await ask(open({}), 'GET', FORGED);
    expect(await text(answer)).toBe('from the API server');
    const { url, headers } = seen[0] ?? { headers: {} };
    expect(url).toBe('/prefix/api/v1/pods');
    expect(headers).toMatchObject({
      authorization: 'Bearer token-of-the-agent',
      'sec-websocket-protocol': 'v5.channel.k8s.io',
    });
    const names = Object.keys(headers).filter((name) => /impersonate|cookie|x-remote|x-forwarded/.test(name));
    expect(names).toEqual([]);
  });

  it('receives no such header in trailers either', async () => {
    const stream = open({});
    const request = httpRequest({ method: 'POST', path: '/api/v1/pods', createConnection: () => stream });
    request.write('{}');
    request.addTrailers({ ...FORGED, 'x-kept': 'yes' });
    request.end();
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    await text(answer);
    expect(Object.keys(seen[0]?.trailers ?? {})).toEqual(['sec-websocket-protocol', 'x-kept']);
  });

  it("receives the user's identity if configured, whatever the caller claims", async () => {
    await text(await ask(open({ TUNNEL_KUBERNETES_IDENTITY: 'user' }), 'GET', FORGED));
    expect(seen[0]?.headers).toMatchObject({
      'impersonate-user': 'svc:user:u1',
      'impersonate-group': 'svc:role:member',
    });
    expect(seen[0]?.rawHeaders.filter((name) => /^impersonate-/i.test(name))).toHaveLength(2);
  });

  it('does not receive requests that the role may not send; the response looks like one of Kubernetes', async () => {
    const answer = await ask(open({}, 'guest'), 'DELETE', {});
    expect(answer.statusCode).toBe(403);
    expect(JSON.parse(await text(answer))).toMatchObject({
      kind: 'Status',
      reason: 'Forbidden',
      error: { code: 'FORBIDDEN' },
    });
    expect(seen).toEqual([]);
  });

  it('causes a 502 when it is unreachable', async () => {
    const stream = open({});
    api.close();
    await new Promise((resolve) => api.once('close', resolve));
    const answer = await ask(stream, 'GET', {});
    expect(answer.statusCode).toBe(502);
    expect(JSON.parse(await text(answer))).toMatchObject({ error: { code: 'TUNNEL_BACKEND_UNREACHABLE' } });
  });
});

describe('the service for sandboxes', () => {
  const ENABLED = {
    TUNNEL_ENABLED: 'true',
    TUNNEL_KUBERNETES_IDENTITY: 'user',
    SANDBOXES_ENABLED: 'true',
    SANDBOXES_NAMESPACE: 'boxes',
    SANDBOXES_HELPER_IMAGE: 'registry.example/svc:1',
  };
  const of = (environment: Record<string, string>) => open(environment, 'sandboxes', SANDBOXES_SERVICE);
  const PODS = '/api/v1/namespaces/boxes/pods';

  it('describes itself, and asks the API server as the agent', async () => {
    const profile = await ask(of(ENABLED), 'GET', {}, SANDBOX_PROFILE_PATH);
    expect(JSON.parse(await text(profile))).toMatchObject({ namespace: 'boxes', network_policies: 'verify' });
    expect(seen).toEqual([]);
    expect(await text(await ask(of(ENABLED), 'GET', FORGED, PODS))).toBe('from the API server');
    expect(seen[0]?.headers).toMatchObject({ authorization: 'Bearer token-of-the-agent' });
    expect(seen[0]?.headers).not.toHaveProperty('impersonate-user');
  });

  it('reaches no other namespace, and nothing while sandboxes are off', async () => {
    const other = await ask(of(ENABLED), 'GET', {}, '/api/v1/namespaces/kube-system/secrets');
    expect([other.statusCode, await text(other)]).toEqual([403, expect.stringContaining('only the namespace boxes')]);
    for (const path of [SANDBOX_PROFILE_PATH, PODS]) {
      const off = await ask(of({}), 'GET', {}, path);
      expect([off.statusCode, await text(off)]).toEqual([403, expect.stringContaining('sandboxes.enabled')]);
    }
    expect(seen).toEqual([]);
  });

  it('describes nothing to users of the API server', async () => {
    await text(await ask(open(ENABLED), 'GET', {}, SANDBOX_PROFILE_PATH));
    expect(seen[0]?.url).toBe(`/prefix${SANDBOX_PROFILE_PATH}`);
  });
});
