import { fakeClock, waitFor } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { startTestAgent, TestPlatform } from '../../support/index.ts';
import {
  Health,
  type ConnectionHealth,
  type HealthSources,
  type KubernetesHealth,
} from '../../../src/health/health.ts';

const clock = fakeClock();
const GRACE_MS = 90_000;

interface Situation {
  channel?: Partial<ConnectionHealth>;
  tunnel?: Partial<ConnectionHealth> & { enabled?: boolean };
  kubernetes?: KubernetesHealth['state'];
  degraded?: 'kubernetes' | 'tunnel';
  faults?: string[];
}

function health({ channel, tunnel, kubernetes = 'ok', degraded, faults = [] }: Situation = {}): Health {
  const connected: ConnectionHealth = { state: 'connected', connectedUntilMs: clock.nowMs() };
  const sources: HealthSources = {
    channel: () => ({ ...connected, lastPingAt: null, reconnects: 0, lastError: null, ...channel }),
    tunnel: () => ({ ...connected, enabled: true, activeTunnels: 1, ...tunnel }),
    kubernetes: () => ({ state: kubernetes, version: '' }),
    degraded: (part) => part === degraded,
    processFaults: () => faults,
  };
  return new Health({ clock, sources, startedAt: clock.now(), reconnectGraceMs: GRACE_MS });
}

const OK = { api_connection: 'ok', kubernetes: 'ok', tunnel: 'ok' };
const never = { connectedUntilMs: null };
const justNow = { connectedUntilMs: clock.nowMs() - GRACE_MS + 1 };
const longAgo = { connectedUntilMs: clock.nowMs() - GRACE_MS };

describe('/readyz', () => {
  it.each<[string, Situation, Partial<typeof OK>, boolean]>([
    ['all is well', {}, {}, true],
    [
      'the platform was not reached yet',
      { channel: { state: 'connecting', ...never } },
      { api_connection: 'connecting' },
      false,
    ],
    ['the connection broke just now', { channel: { state: 'disconnected', ...justNow } }, {}, true],
    [
      'it has been away for three heartbeats',
      { channel: { state: 'disconnected', ...longAgo } },
      { api_connection: 'disconnected' },
      false,
    ],
    [
      'the token was refused, which no retry mends',
      { channel: { state: 'unauthorized', ...justNow } },
      { api_connection: 'unauthorized' },
      false,
    ],
    [
      'the cluster was refused',
      { channel: { state: 'forbidden', ...justNow } },
      { api_connection: 'forbidden' },
      false,
    ],
    ['the tunnel broke just now', { tunnel: { state: 'disconnected', ...justNow } }, {}, true],
    [
      'the tunnel is away for long',
      { tunnel: { state: 'disconnected', ...longAgo } },
      { tunnel: 'disconnected' },
      false,
    ],
    ['the tunnel never stood', { tunnel: { state: 'connecting', ...never } }, { tunnel: 'connecting' }, false],
    ['the tunnel was refused', { tunnel: { state: 'unauthorized', ...never } }, { tunnel: 'unauthorized' }, false],
    ['there is no tunnel to be', { tunnel: { enabled: false, state: 'connecting', ...never } }, {}, true],
    ['a service behind the tunnel is away', { degraded: 'tunnel' }, { tunnel: 'degraded' }, true],
    ['a right is missing', { degraded: 'kubernetes' }, { kubernetes: 'degraded' }, true],
    [
      'the cluster is away',
      { kubernetes: 'unreachable', degraded: 'kubernetes' },
      { kubernetes: 'unreachable' },
      false,
    ],
    ['the cluster refuses the agent', { kubernetes: 'forbidden' }, { kubernetes: 'forbidden' }, false],
  ])('when %s', (_what, situation, checks, ready) => {
    const { ok, body } = health(situation).readyz();
    expect(body).toMatchObject({ status: ready ? 'ready' : 'not_ready', checks: { ...OK, ...checks } });
    expect(ok).toBe(ready);
  });

  it('reports shutting_down for every component', () => {
    const stopping = health();
    stopping.beginShutdown();
    const state = 'shutting_down';
    expect(stopping.readyz()).toMatchObject({
      ok: false,
      body: { status: 'not_ready', checks: { api_connection: state, kubernetes: state, tunnel: state } },
    });
    expect(stopping.healthz().ok).toBe(true);
  });
});

describe('/healthz and /livez', () => {
  it('fail only for faults of the process', () => {
    const away = health({ channel: { state: 'disconnected', ...never }, kubernetes: 'unreachable' });
    expect([away.healthz().ok, away.livez().ok, away.readyz().ok]).toEqual([true, true, false]);
    const blocked = health({ faults: ['event_loop_blocked'] });
    expect(blocked.healthz()).toMatchObject({
      ok: false,
      body: { status: 'unhealthy', reasons: ['event_loop_blocked'] },
    });
    expect(blocked.livez().ok).toBe(false);
  });

  it.each<[KubernetesHealth['state'], boolean]>([
    ['connecting', false],
    ['unreachable', false],
    ['unauthorized', true],
    ['forbidden', true],
    ['ok', true],
  ])('report for a cluster in state %s whether it is reachable: %s', (kubernetes, reachable) => {
    expect(health({ kubernetes }).livez().body['components']).toMatchObject({
      kubernetes_client: { cluster_reachable: reachable },
    });
  });

  it('report the state of each component without a grace period', () => {
    const { body } = health({
      channel: { state: 'disconnected', ...justNow },
      tunnel: { state: 'unauthorized', ...never },
      degraded: 'kubernetes',
    }).livez();
    expect(body['components']).toMatchObject({
      api_client: { status: 'unhealthy', state: 'disconnected' },
      tunnel_manager: { status: 'unhealthy', state: 'unauthorized' },
      kubernetes_client: { status: 'degraded', cluster_reachable: true },
    });
  });
});

describe('an agent refused by the platform', () => {
  it.each([
    [401, 'unauthorized'],
    [403, 'forbidden'],
  ])('with %i reports it for both connections', async (status, state) => {
    const platform = await TestPlatform.start();
    platform.refusal = { status, body: '' };
    const test = await startTestAgent({ platformUrl: platform.url, environment: { TUNNEL_ENABLED: 'true' } });
    await expect
      .poll(async () => (await test.get('/readyz')).json(), { timeout: 30_000 })
      .toMatchObject({ checks: { api_connection: state, tunnel: state } });
    await test.stop();
    await platform.close();
  });
});

describe('an agent that loses its platform', () => {
  it('stays ready for three heartbeats, while /livez reports the loss at once', async () => {
    const platform = await TestPlatform.start();
    const moved = fakeClock();
    const test = await startTestAgent({ platformUrl: platform.url, clock: moved });
    const body = async (path: string) => (await (await test.get(path)).json()) as Record<string, unknown>;
    await expect.poll(() => body('/readyz')).toMatchObject({ checks: { api_connection: 'ok' } });
    await platform.close();
    await waitFor(async () => JSON.stringify(await body('/livez')).includes('"disconnected"'));
    expect(await body('/readyz')).toMatchObject({ checks: { api_connection: 'ok' } });
    await moved.advance(GRACE_MS);
    expect(await body('/readyz')).toMatchObject({ checks: { api_connection: 'disconnected' } });
    await test.stop();
  });
});
