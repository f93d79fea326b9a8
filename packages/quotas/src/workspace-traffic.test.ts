import { createMetrics } from '@svc/telemetry';
import { fakeClock } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import type { QuotaLimits } from './limits.ts';
import { createWorkspaceTraffic } from './workspace-traffic.ts';

/** Quota limits where `owner` owns every workspace. */
function createLimits(workspace: Record<string, number>, owner: Record<string, number> = {}): QuotaLimits {
  return {
    readLimits: async (workspaceUuid) => ({ workspaceUuid, ownerId: 'owner', ownerWorkspaces: [], workspace, owner }),
    shareOf: () => 'owner',
  };
}

function createTraffic(limits: QuotaLimits) {
  const clock = fakeClock();
  const metrics = createMetrics();
  return { clock, metrics, traffic: createWorkspaceTraffic({ limits, metrics, nowMs: clock.nowMs }) };
}

describe('the rate of a workspace', () => {
  it('is counted for the owner over all workspaces as well', async () => {
    const { traffic } = createTraffic(createLimits({ requests_per_second: 5 }, { requests_per_second: 6 }));
    const admitted: (string | null)[] = [];
    for (const workspace of ['a', 'b']) {
      for (let count = 0; count < 4; count += 1) admitted.push((await traffic.admit(workspace))?.scope ?? null);
    }
    expect(admitted).toEqual([null, null, null, null, null, null, 'owner', 'owner']);
  });

  it('keeps what it had when its owner is refused', async () => {
    const { traffic } = createTraffic(createLimits({ requests_per_second: 5 }, { requests_per_second: 2 }));
    const scopes: (string | null)[] = [];
    for (let count = 0; count < 9; count += 1) scopes.push((await traffic.admit('a'))?.scope ?? null);
    expect(scopes).toEqual([null, null, ...Array.from({ length: 7 }, () => 'owner')]);
  });

  it('does not let strangers use up what those with credentials may ask', async () => {
    const { traffic } = createTraffic(createLimits({ requests_per_second: 1 }));
    expect(await traffic.admit('a', true)).toBeNull();
    expect(await traffic.admit('a', true)).toMatchObject({ scope: 'workspace' });
    expect(await traffic.admit('a')).toBeNull();
  });

  it('admits nothing at a limit of 0', async () => {
    const { traffic } = createTraffic(createLimits({ requests_per_second: 0 }));
    expect(await traffic.admit('a')).toMatchObject({ limit: 0, retryAfterSeconds: 60 });
  });

  it('follows a limit that is changed', async () => {
    const limits = { requests_per_second: 1 };
    const { traffic, clock } = createTraffic(createLimits(limits));
    await traffic.admit('a');
    expect(await traffic.admit('a')).toMatchObject({ limit: 1 });
    limits.requests_per_second = 100;
    await clock.advance(100);
    for (let count = 0; count < 10; count += 1) expect(await traffic.admit('a')).toBeNull();
  });
});

describe('the turns of workspaces', () => {
  it('go by owner: many workspaces of one, and strangers who read there, get the turns of one', async () => {
    const limits = { ...createLimits({}), shareOf: (workspaceUuid: string) => workspaceUuid.slice(0, 1) };
    const { traffic } = createTraffic(limits);
    const order: string[] = [];
    const ask = async (workspace: string, isPublic = false): Promise<void> => {
      expect(await traffic.admit(workspace, isPublic)).toBeNull();
      order.push(workspace);
      const endsAtMs = performance.now() + 1; // a whole slice of the event loop
      while (performance.now() < endsAtMs);
    };
    await ask('a0'); // uses up this iteration; the rest waits
    const burst = Array.from({ length: 30 }, (_, index) => ask(`a${index % 10}`, index % 2 === 0));
    await Promise.all([...burst, ask('b1'), ask('b1'), ask('b1')]);
    expect(order).toHaveLength(34);
    expect(order.lastIndexOf('b1')).toBeLessThanOrEqual(6);
  });
});

describe('the downloads of a workspace', () => {
  it('take turns with those of others, who then wait for one turn only', async () => {
    const { traffic } = createTraffic(createLimits({}));
    const order: string[] = [];
    const download = async (workspace: string): Promise<void> => {
      await traffic.turnOfDownload(workspace);
      order.push(workspace);
    };
    await Promise.all([...Array.from({ length: 50 }, () => download('a')), download('b')]);
    expect(order.indexOf('b')).toBeLessThan(10);
  });
});

describe('the uploads of a workspace', () => {
  it('go on when so many requests wait that there is no place in the line', async () => {
    const { traffic } = createTraffic(createLimits({}));
    const waiting = Array.from({ length: 20_000 }, async () => traffic.turnOfBody('a'));
    expect(await Promise.all(waiting)).toHaveLength(20_000);
  });

  it('are bounded while they last, for the workspace and for its owner', async () => {
    const { traffic, metrics } = createTraffic(createLimits({ uploads_in_flight: 2 }, { uploads_in_flight: 3 }));
    const [first, second, third] = [
      await traffic.enterUpload('a'),
      await traffic.enterUpload('a'),
      await traffic.enterUpload('a'),
    ];
    expect(third.refusal).toEqual({ quota: 'uploads_in_flight', scope: 'workspace', limit: 2, retryAfterSeconds: 1 });
    const other = await traffic.enterUpload('b');
    expect([traffic.usage(['a']), traffic.usage(['a', 'b'])]).toEqual([
      { uploads_in_flight: 2 },
      { uploads_in_flight: 3 },
    ]);
    expect((await traffic.enterUpload('b')).refusal).toMatchObject({ scope: 'owner', limit: 3 });
    first.leave?.();
    first.leave?.(); // a second call has no effect
    expect((await traffic.enterUpload('b')).refusal).toBeNull();
    expect((await traffic.enterUpload('a')).refusal).toMatchObject({ scope: 'owner' });
    second.leave?.();
    other.leave?.();
    expect(await metrics.render()).toContain('svc_traffic_refusals_total{reason="uploads_in_flight"} 3');
  });
});

it('is contended while several workspaces send requests', async () => {
  const { traffic } = createTraffic(createLimits({ requests_per_second: 100 }));
  await traffic.admit('a');
  await traffic.admit('a');
  expect(traffic.isContended()).toBe(false);
  await traffic.admit('b');
  expect(traffic.isContended()).toBe(true);
});
