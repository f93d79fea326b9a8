import type { Boots } from './boots.ts';
import { RIGHT_REVOKED } from './clusters/cluster-rights.ts';
import type { DrivenSandbox } from './clusters/cluster-drivers.ts';
import type { SandboxContext } from './context.ts';
import { thaw } from './pausing.ts';
import type { Sandbox } from './sandbox.ts';
import { sandboxErrors } from '../errors.ts';

const STOP_GRACE_MS = 10_000;
const STOPPED = 'its sandbox was stopped';
const RIGHT_LOST = 'the creator of its sandbox may no longer run sandboxes in the cluster';

export interface StopRequest {
  /** State reason of the stopped sandbox. */
  readonly reason: string;
  /** If given, the sandbox is left alone unless this is still its expiry. */
  readonly expiredAt: string | null;
}

/**
 * Stops a sandbox that is starting or running. Returns it as it is if it cannot be stopped any more. Throws the driver's
 * error if its programs could not be ended; the sweep then ends them.
 */
export async function stop(
  context: SandboxContext,
  boots: Boots,
  sandbox: Sandbox,
  { reason, expiredAt }: StopRequest,
): Promise<Sandbox> {
  const { repository, watch, stops } = context;
  const { id } = sandbox;
  const isRevoked = reason === RIGHT_REVOKED;
  return interrupt(context, boots, id, isRevoked ? RIGHT_LOST : STOPPED, async () => {
    let stopped: Sandbox | null = null;
    try {
      const isDue = expiredAt === null || (await repository.find(id))?.expiresAt === expiredAt;
      const change = { status: 'stopped', stateReason: reason, fault: null } as const;
      if (isDue) {
        stops.add(sandbox);
        stopped = await repository.change(id, ['creating', 'running'], change, sandbox.node);
      }
    } finally {
      const left = stopped === null ? await repository.find(id).catch(() => sandbox) : null;
      if (left !== null) await thaw(context, left);
    }
    if (stopped === null) return existing(await repository.find(id));
    await stops.stop(sandbox, isRevoked ? 0 : STOP_GRACE_MS); // what was taken away is gone within two seconds
    watch.announce(id, stopped);
    return stopped;
  });
}

/** Removes all data of a deleted sandbox from the machine. */
export async function cleanUp(context: SandboxContext, boots: Boots, sandbox: DrivenSandbox): Promise<void> {
  const { live, drivers, repository, places, clusterChoice } = context;
  const { id } = sandbox;
  await interrupt(context, boots, id, 'its sandbox was deleted', async () => {
    await live.release(id);
    if (!drivers.isAway(sandbox)) await places.remove(sandbox, () => drivers.of(sandbox).remove(id));
    else if (!(await clusterChoice.isGone(sandbox))) return; // the return of its agent removes it
    await repository.purge(id);
    drivers.forget(id);
  });
}

/** Ends and removes what a sandbox that was restored on another node has here. Its record stays. */
export async function removeLeftover(context: SandboxContext, boots: Boots, id: string): Promise<void> {
  const { live, driver } = context;
  await interrupt(context, boots, id, 'its sandbox continues on another node', async () => {
    await live.release(id);
    await driver.remove(id);
  });
}

/**
 * Works on a sandbox in its turn, and has a start and the transfer of a snapshot end before, which could take hours. It is in
 * line first, so that nothing new comes in between.
 */
async function interrupt<Result>(
  { queue, takes }: Pick<SandboxContext, 'queue' | 'takes'>,
  boots: Boots,
  id: string,
  reason: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const working = queue.run(id, work);
  takes.end(id, reason);
  const [result] = await Promise.all([working, boots.cancel(id)]);
  return result;
}

function existing(sandbox: Sandbox | null): Sandbox {
  if (sandbox === null) throw sandboxErrors.SANDBOX_NOT_FOUND();
  return sandbox;
}
