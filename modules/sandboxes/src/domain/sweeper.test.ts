import { unlimitedQuotas } from '@svc/quotas';
import { createLogger } from '@svc/telemetry';
import { fakeClock, waitFor } from '@svc/testing';
import { expect, it } from 'vitest';
import type { SandboxContext } from './context.ts';
import type { TicketRepository } from './ports.ts';
import type { SandboxService } from './sandbox-service.ts';
import type { Sandbox } from './sandbox.ts';
import { Sweeper } from './sweeper.ts';

const SWEEP_MS = 5_000;

const sandboxes = [
  { id: 'starting', status: 'creating' },
  { id: 'left', status: 'creating' },
  { id: 'connected', status: 'running' },
  { id: 'unconnected', status: 'running' },
  { id: 'stopped', status: 'stopped' },
].map((each) => ({ ...each, cluster: null, expiresAt: null, idleTimeoutSeconds: null }) as Sandbox); // the fields that a sweep reads

it('takes up what two sweeps in a row find without a start or a connection', async () => {
  const clock = fakeClock('2026-01-01T00:00:00.000Z');
  const repaired: string[] = [];
  let sweeps = 0;
  let isOn = true;
  const context = {
    repository: {
      ofNode: async () => sandboxes,
      removed: async () => [],
      purgeRepeated: async () => void (sweeps += 1),
    },
    stops: { sandboxes: [] },
    live: { has: (id: string) => id === 'connected' },
    driver: { status: () => ({ available: isOn }) },
    quotaLimits: unlimitedQuotas,
    node: 'node',
    clock,
    log: createLogger({ name: 'test', level: 'silent' }),
  } as unknown as SandboxContext; // what a sweep uses
  const service = {} as SandboxService; // as above
  const tickets = { purge: async () => undefined } as unknown as TicketRepository; // as above
  const sweeper = new Sweeper(context, service, tickets, [{ sweep: async () => undefined }], {
    boots: { has: (id) => id === 'starting', recover: async (id) => void repaired.push(`start of ${id}`) },
    supervisor: { lost: (id) => void repaired.push(`connection of ${id}`) },
    claims: { sweep: async () => undefined },
  });
  sweeper.start();
  const swept = (times: number) =>
    waitFor(async () => {
      if (sweeps < times) await clock.advance(SWEEP_MS);
      return sweeps >= times;
    });
  await swept(1);
  expect([sweeps, repaired]).toEqual([1, []]);
  await swept(2);
  await waitFor(() => repaired.length === 2);
  expect(repaired).toEqual(['start of left', 'connection of unconnected']);
  isOn = false; // nothing of the driver can be served then
  await swept(5);
  expect(repaired).toHaveLength(2);
  await sweeper.close();
});

it('sweeps what else there is while a cluster and another workspace do not answer', async () => {
  const clock = fakeClock('2026-01-01T00:00:00.000Z');
  const cluster = (id: string) => ({ id, name: id }) as Sandbox['cluster']; // what a sweep reads
  const expired = (id: string, workspaceUuid: string, place: Sandbox['cluster'] = null) =>
    ({ ...stopped, id, workspaceUuid, cluster: place }) as Sandbox;
  const stopped = { status: 'stopped', expiresAt: '2025-12-31T00:00:00.000Z', onExpiry: 'delete' } as const;
  const removed: string[] = [];
  const stalled = Promise.withResolvers<void>();
  const work = async (id: string): Promise<void> => {
    if (id.startsWith('stalled')) await stalled.promise;
    removed.push(id);
  };
  const all = [
    expired('stalled 1', 'ann', cluster('cls-1')),
    expired('stalled 2', 'bob'),
    expired('in another cluster', 'ann', cluster('cls-2')),
    expired('here', 'ann'),
  ];
  const context = {
    repository: {
      ofNode: async () => all.filter(({ id }) => !removed.includes(id)),
      removed: async () => [
        { id: 'stalled 3', workspaceUuid: 'ann', cluster: cluster('cls-3') },
        { id: 'deleted', workspaceUuid: 'ann', cluster: null },
        { id: 'being deleted', workspaceUuid: 'ann', cluster: null },
      ],
      purgeRepeated: async () => undefined,
    },
    stops: { sandboxes: [] },
    live: { has: () => false },
    driver: { status: () => ({ available: true }) },
    quotaLimits: unlimitedQuotas,
    node: 'node',
    clock,
    log: createLogger({ name: 'test', level: 'silent' }),
  } as unknown as SandboxContext; // what a sweep uses
  const service = {
    isRemoving: (id: string) => id === 'being deleted',
    remove: (_workspaceUuid: string, id: string) => work(id),
    cleanUp: ({ id }: Sandbox) => work(id),
  } as unknown as SandboxService; // as above
  const tickets = { purge: async () => undefined } as unknown as TicketRepository; // as above
  const sweeper = new Sweeper(context, service, tickets, [], {
    boots: { has: () => false, recover: async () => undefined },
    supervisor: { lost: () => undefined },
    claims: { sweep: async () => undefined },
  });
  sweeper.start();
  await clock.advance(SWEEP_MS);
  const sees = (id: string, count: number) =>
    waitFor(async () => {
      await clock.advance(SWEEP_MS);
      return removed.filter((each) => each === id).length >= count;
    });
  await sees('in another cluster', 1);
  await sees('here', 1);
  await sees('deleted', 2);
  expect(removed.filter((id) => /stalled|being/.test(id))).toEqual([]);
  stalled.resolve();
  await sweeper.close();
});
