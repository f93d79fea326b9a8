import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { fakeClock, waitFor } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestAgent, TestPlatform, type TestAgent } from '../../support/index.ts';

const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

let clock: ReturnType<typeof fakeClock>;
let platform: TestPlatform;
let test: TestAgent;

beforeEach(async () => {
  clock = fakeClock();
  platform = await TestPlatform.start();
  test = await startTestAgent({
    platformUrl: platform.url,
    clock,
    environment: { HTTPS_PROXY: '', LOG_LEVEL: 'warn', MONITORING_ENABLED: 'true' },
  });
});
afterEach(async () => {
  await test.stop();
  await platform.close();
});

async function json(path: string): Promise<Record<string, unknown>> {
  return (await (await test.get(path)).json()) as Record<string, unknown>;
}

/** The server's response to bytes that no HTTP client would send, until it closes. */
function exchange(sent: string): Promise<string> {
  const socket = connect({ port: test.agent.httpPort, host: '127.0.0.1' });
  socket.write(sent);
  return text(socket);
}

describe("the agent's HTTP endpoints", () => {
  it('reports on /healthz that the process runs, whatever is unreachable', async () => {
    const response = await test.get('/healthz');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await response.json()).toEqual({ status: 'ok', timestamp: expect.stringMatching(ISO) as string });
  });

  it("returns 503 on /readyz with each component's state until all are ok", async () => {
    await waitFor(() => platform.connections.length === 1);
    await waitFor(async () => {
      const body = await json('/readyz');
      return (body['checks'] as Record<string, string>)['api_connection'] === 'ok';
    });
    const response = await test.get('/readyz');
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({
      status: 'not_ready',
      checks: { api_connection: 'ok', kubernetes: 'unreachable', tunnel: 'ok' },
      timestamp: expect.stringMatching(ISO) as string,
    });
  });

  it('reports the actual state of each component on /livez', async () => {
    await waitFor(() => platform.connections.length === 1);
    await clock.advance(65_000);
    expect(await json('/livez')).toMatchObject({
      status: 'alive',
      components: {
        api_client: { status: 'healthy', last_ping: expect.stringMatching(ISO) as string },
        tunnel_manager: { status: 'healthy', active_tunnels: 0 },
        kubernetes_client: { status: 'unhealthy', cluster_reachable: false },
      },
      uptime_seconds: 65,
    });
  });

  it("returns the contract's fields on /info", async () => {
    expect(await json('/info')).toEqual({
      version: '1.2.3',
      git_commit: 'abc1234',
      build_date: '2026-01-01T00:00:00.000Z',
      go_version: `node ${process.version}`,
      cluster_name: 'test-cluster',
      cluster_id: 'cls-123abc',
      kubernetes_version: '',
      features: { monitoring: true, tunneling: false, auto_scaling: false },
    });
  });

  it('returns the id assigned by the platform on /info, even if only the name is configured', async () => {
    const named = await startTestAgent({ platformUrl: platform.url, environment: { SVC_CLUSTER_ID: '' } });
    await waitFor(async () => (await (await named.get('/info')).text()).includes('"cluster_id":"cls-123abc"'), {
      timeoutMs: 30_000,
      intervalMs: 1500, // within the limit of the route
    });
    await named.stop();
  });

  it('returns its configuration with all secrets redacted', async () => {
    const text = await (await test.get('/config')).text();
    expect(text).not.toContain('svc_agt_token_of_the_test');
    expect(JSON.parse(text)).toMatchObject({
      agent: { cluster_name: 'test-cluster', namespace: 'svc-system', labels: {} },
      svc: { api_url: platform.url, token: '***REDACTED***', timeout: '30s' },
      tunnel: { enabled: false, forwards: [] },
      monitoring: { enabled: true, prometheus: { enabled: true } },
    });
  });

  it("answers unknown paths and methods with errors in the contract's format", async () => {
    const missing = await test.get('/nope');
    expect(missing.status).toBe(404);
    expect(await missing.json()).toMatchObject({ error: { code: 'NOT_FOUND', details: { field: 'path' } } });
    const posted = await test.get('/healthz', { method: 'POST', body: 'x' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect(await posted.json()).toMatchObject({ error: { code: 'METHOD_NOT_ALLOWED' } });
    const head = await test.get('/healthz', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it.each([
    ['garbage', 400, 'INVALID_REQUEST', 'GARBAGE\r\n\r\n'],
    ['no host', 400, 'INVALID_REQUEST', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['a large head', 431, 'HEADERS_TOO_LARGE', `GET /healthz HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
  ])("refuses %s with %i in the contract's format", async (_what, status, code, sent) => {
    const answer = await exchange(sent);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ error: { code } });
  });

  it('accepts an absolute URL as the request target', async () => {
    expect(await exchange('GET http://a/healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).toContain('"ok"');
  });

  it('returns the remaining rate limit for a refused method too, which counts like any other', async () => {
    const posted = await test.get('/config', { method: 'POST' });
    expect(posted.status).toBe(405);
    expect(posted.headers.get('x-ratelimit-remaining')).toBe('4');
    expect((await test.get('/config')).headers.get('x-ratelimit-remaining')).toBe('3');
  });

  it.each([
    ['/metrics', 60, 10],
    ['/info', 60, 10],
    ['/config', 10, 5],
  ])('limits %s to %i requests a minute with a burst of %i', async (path, limit, burst) => {
    for (let index = 0; index < burst; index += 1) {
      const response = await test.get(path);
      expect(response.status).toBe(200);
      expect(response.headers.get('x-ratelimit-limit')).toBe(String(limit));
      expect(response.headers.get('x-ratelimit-remaining')).toBe(String(burst - 1 - index));
      expect(Number(response.headers.get('x-ratelimit-reset'))).toBeGreaterThan(clock.nowMs() / 1000);
    }
    const refused = await test.get(path);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
    expect(await refused.json()).toMatchObject({ error: { code: 'RATE_LIMITED', details: { field: path } } });
    await clock.advance(60_000 / limit);
    expect((await test.get(path)).status).toBe(200);
    expect((await test.get(path)).status).toBe(429);
  });

  it('never rate-limits health checks', async () => {
    for (let index = 0; index < 150; index += 1) expect((await test.get('/healthz')).status).toBe(200);
  });

  it('serves all metrics of the contract with their types, on both ports', async () => {
    const types: Record<string, string> = {
      svc_agent_up: 'gauge',
      svc_agent_connected: 'gauge',
      svc_agent_start_time_seconds: 'gauge',
      svc_api_requests_total: 'counter',
      svc_api_request_duration_seconds: 'histogram',
      svc_api_errors_total: 'counter',
      svc_tunnel_active: 'gauge',
      svc_tunnel_bytes_sent: 'counter',
      svc_tunnel_bytes_received: 'counter',
      svc_kubernetes_api_requests_total: 'counter',
      svc_agent_memory_bytes: 'gauge',
      svc_agent_cpu_seconds_total: 'counter',
      svc_agent_goroutines: 'gauge',
    };
    await waitFor(() => platform.connections.length === 1);
    await waitFor(async () => (await (await test.get('/livez')).text()).includes('"connected"'));
    const second = await fetch(`http://127.0.0.1:${String(test.agent.metricsPort)}/metrics`);
    for (const response of [await test.get('/metrics'), second]) {
      expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
      const text = await response.text();
      for (const [name, type] of Object.entries(types)) expect(text).toContain(`# TYPE ${name} ${type}\n`);
      expect(text).toMatch(/^svc_agent_up 1$/m);
      expect(text).toMatch(/^svc_agent_connected 1$/m);
      expect(text).toMatch(/^svc_api_requests_total\{method="GET",endpoint="\/v1\/agent\/connect",status="101"\} 1$/m);
      expect(text).toMatch(/^svc_api_request_duration_seconds_bucket\{le="\+Inf"\} 1$/m);
      expect(text).toMatch(/^svc_agent_memory_bytes \d{6,}$/m);
    }
    expect((await fetch(`http://127.0.0.1:${String(test.agent.metricsPort)}/healthz`)).status).toBe(404);
  });
});

describe('disabled metrics', () => {
  it('are not served on either port', async () => {
    const off = await startTestAgent({ environment: { MONITORING_ENABLED: 'false' } });
    expect(off.agent.metricsPort).toBeNull();
    expect((await off.get('/metrics')).status).toBe(404);
    await off.stop();
  });
});

describe('a port in use', () => {
  it('is reported with the key to change, and nothing stays open', async () => {
    await expect(
      startTestAgent({ environment: { SVC_AGENT_PORT: String(test.agent.httpPort) } }),
    ).rejects.toMatchObject({ code: 'PORT_IN_USE', details: { key: 'http.port' } });
  });
});
