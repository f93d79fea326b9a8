import { unlimitedQuotas } from '@svc/quotas';
import { expect, it } from 'vitest';
import type { SandboxCluster } from './clusters/sandbox-cluster.ts';
import type { HelperConnection } from './helper/helper-connection.ts';
import { LiveSandboxes } from './live-sandboxes.ts';
import { RunningRoom } from './running-room.ts';

const nothing = (): void => undefined;

function liveSandboxes(): LiveSandboxes {
  return new LiveSandboxes(nothing, nothing, nothing, () => 0);
}

/** Only its end matters here. */
function openConnection(): HelperConnection {
  return { closed: new Promise<void>(nothing) } as unknown as HelperConnection;
}

it('sandboxes in connected clusters take no room of the node', async () => {
  const live = liveSandboxes();
  const cluster = { id: 'cls-1', name: 'there', maker: { principalId: 'ann' } as unknown as SandboxCluster['maker'] };
  for (const id of ['sbx_1', 'sbx_2']) live.adopt({ id, workspaceUuid: 'w', cluster }, openConnection());
  const deps = { live, boots: { countHere: () => 0 }, quotaLimits: unlimitedQuotas, maxRunning: 2 };
  const room = new RunningRoom(deps);
  const leave = await room.reserve('w');
  live.adopt({ id: 'sbx_3', workspaceUuid: 'w', cluster: null }, openConnection());
  leave();
  await room.reserve('v');
  await expect(room.reserve('w')).rejects.toMatchObject({ code: 'NO_CAPACITY', details: { held: 2, limit: 2 } });
  expect(live.size).toBe(3);
});

it('places that are reserved count until they are left', async () => {
  const deps = { live: liveSandboxes(), boots: { countHere: () => 0 }, quotaLimits: unlimitedQuotas, maxRunning: 1 };
  const room = new RunningRoom(deps);
  const [first, second] = await Promise.allSettled([room.reserve('w'), room.reserve('w')]);
  expect([first.status, second.status]).toEqual(['fulfilled', 'rejected']);
  if (first.status === 'fulfilled') first.value();
  expect(await room.reserve('w')).toBeTypeOf('function');
});
