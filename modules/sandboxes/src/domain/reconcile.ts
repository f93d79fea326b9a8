import type { FoundSandbox, SandboxDriver } from './driver.ts';
import type { Boots } from './boots.ts';
import { BOOT_LIMIT_MS } from './boots.ts';
import type { SandboxContext } from './context.ts';
import { markReturned } from './lost-nodes.ts';
import { isReportedLost, type Sandbox } from './sandbox.ts';
import type { SandboxService } from './sandbox-service.ts';
import type { Supervisor } from './supervisor.ts';

export interface ReconcileResult {
  readonly adopted: number;
  readonly repaired: number;
  readonly removed: number;
}

/** A driver with the sandboxes that it runs. */
export interface DrivenPlace {
  readonly driver: SandboxDriver;
  /** Id of its cluster; null for the configured driver. */
  readonly clusterId: string | null;
}

/**
 * Reconciles records with the machine after a start, or with a cluster after the return of its agent: adopts running sandboxes, removes sandboxes without a record, and
 * corrects records that do not match their sandbox.
 */
export async function reconcile(
  context: SandboxContext,
  service: SandboxService,
  boots: Boots,
  supervisor: Supervisor,
  { driver, clusterId }: DrivenPlace = { driver: context.driver, clusterId: null },
): Promise<ReconcileResult> {
  const { repository, node, log } = context;
  const isOfPlace = ({ cluster }: Pick<Sandbox, 'cluster'>): boolean => (cluster?.id ?? null) === clusterId;
  const result = { adopted: 0, repaired: 0, removed: 0 };
  const found = new Map((await driver.list()).map((each) => [each.id, each]));
  for (const sandbox of (await repository.removed(node)).filter(isOfPlace)) {
    await service.cleanUp(sandbox);
    found.delete(sandbox.id);
    result.removed += 1;
  }
  for (const sandbox of await repository.ofNode(node, ['creating', 'running', 'stopped', 'error'])) {
    if (!isOfPlace(sandbox)) continue;
    const condition = found.get(sandbox.id);
    found.delete(sandbox.id);
    try {
      result[await settle(context, boots, supervisor, sandbox, condition)] += 1;
    } catch (error) {
      log.error({ err: error, sandbox: sandbox.id }, 'a sandbox could not be reconciled');
    }
  }
  for (const [id, { mayBeForeign }] of found) {
    const record = await repository.find(id);
    if (record !== null) {
      // The file with the replica's id was deleted, or the data folder is a copy: the files are all there is of it.
      log.warn({ sandbox: id, node: record.node }, 'leaving a sandbox whose record names another node');
      continue;
    }
    if (mayBeForeign === true) {
      log.warn({ sandbox: id }, 'leaving a sandbox without a record that may belong to another platform');
      continue;
    }
    log.warn({ sandbox: id }, 'removing a sandbox that has no record');
    await driver.remove(id);
    result.removed += 1;
  }
  return result;
}

/** `condition` is undefined if the machine does not know the sandbox. */
async function settle(
  context: SandboxContext,
  boots: Boots,
  supervisor: Supervisor,
  sandbox: Sandbox,
  condition: FoundSandbox | undefined,
): Promise<'adopted' | 'repaired'> {
  const { drivers, clock, repository, stops } = context;
  const driver = drivers.of(sandbox);
  const running = condition?.running;
  switch (sandbox.status) {
    case 'running':
      // The platform ended after the freeze and before the record was written.
      if (condition?.paused === true && sandbox.pausedAt === null) await driver.resume(sandbox.id);
      if (running === true && (await supervisor.reconnect(sandbox))) return 'adopted';
      await supervisor.fail(sandbox, {
        code: running === true ? 'AGENT_TIMEOUT' : 'NODE_LOST',
        message: running === true ? 'The sandbox no longer responds' : 'The sandbox was lost on its machine',
        recoverable: running !== undefined,
      });
      return 'repaired';
    case 'creating': {
      // A platform shutdown interrupted the start. The caller may still be waiting for it.
      const ageMs = clock.nowMs() - Date.parse(sandbox.lastActivityAt);
      if (ageMs < BOOT_LIMIT_MS) {
        // A warm sandbox may be running with other limits and another name than requested.
        if (running === true) await driver.stop(sandbox.id, 0);
        boots.continue(sandbox);
        return 'adopted';
      }
      await supervisor.fail(sandbox, {
        code: 'AGENT_TIMEOUT',
        message: 'The platform was restarted while the sandbox was being started',
        recoverable: true,
      });
      return 'repaired';
    }
    case 'stopped':
    case 'error':
      if (condition?.running === true && (await adoptLost(context, supervisor, sandbox, condition))) return 'adopted';
      if (running === true) await stops.stop(sandbox, 0);
      if (running === undefined && sandbox.fault?.recoverable === true) {
        const fault = { ...sandbox.fault, recoverable: false };
        await repository.change(sandbox.id, ['error'], { fault }, sandbox.node);
      }
      return 'repaired';
  }
}

/** Another node reported the sandbox as lost while this node was down, but its processes have run on. */
async function adoptLost(
  context: SandboxContext,
  supervisor: Supervisor,
  sandbox: Sandbox,
  { paused }: FoundSandbox,
): Promise<boolean> {
  // One that never ran may be a warm sandbox with other limits and another name than requested.
  if (!isReportedLost(sandbox) || sandbox.startedAt === null) return false;
  const pausedAt = paused ? context.clock.now().toISOString() : null;
  if (!(await supervisor.reconnect({ ...sandbox, pausedAt }))) return false;
  if (await markReturned(context, sandbox.id, paused)) return true;
  await context.live.release(sandbox.id);
  return false;
}
