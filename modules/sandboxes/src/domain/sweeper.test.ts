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
    live: { has: (id: string) => id === 'connected' },
    driver: { status: () => ({ available: isOn }) },
    node: 'node',
    clock,
    log: createLogger({ name: 'test', level: 'silent' }),
  } as unknown as SandboxContext; // what a sweep uses
  const service = { removalsUnderWay: 0 } as SandboxService; // as above
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
  expect(repaired).toEqual(['start of left', 'connection of unconnected']);
  isOn = false; // nothing of the driver can be served then
  await swept(5);
  expect(repaired).toHaveLength(2);
  await sweeper.close();
});
