import { sandboxErrors } from '../errors.ts';
import type { SandboxContext } from './context.ts';
import type { Sandbox, SandboxChange, SandboxStatus } from './sandbox.ts';

const SETTLED: readonly SandboxStatus[] = ['running', 'stopped', 'error'];
const ANY_STATUS: readonly SandboxStatus[] = ['creating', ...SETTLED];

/** What a record has and no driver needs to know. */
export type RecordChange = Pick<SandboxChange, 'expiresAt' | 'labels'>;

/** Changes when the sandbox expires (null keeps it) or replaces its labels. On any node, in any status. */
export function changeRecord(context: SandboxContext, { id }: Sandbox, wanted: RecordChange): Promise<Sandbox> {
  return change(context, id, ANY_STATUS, wanted);
}

/**
 * Replaces what a sandbox may reach, running or not. Connections that are open end. Throws UNSUPPORTED_EGRESS if the
 * driver cannot limit egress, EGRESS_FIXED for a sandbox without a network, and SANDBOX_NOT_RUNNING while it starts,
 * because the start may have begun under the previous list.
 */
export function changeEgress(context: SandboxContext, sandbox: Sandbox, allowed: readonly string[]): Promise<Sandbox> {
  const { id, network, egressAllow: previous } = sandbox;
  const { queue, repository, drivers } = context;
  const driver = drivers.of(sandbox);
  const { changeEgress: enforce } = driver;
  if (enforce === undefined) {
    throw sandboxErrors.UNSUPPORTED_EGRESS({ details: { field: 'egress_allow', driver: driver.name } });
  }
  if (network === 'none') throw sandboxErrors.EGRESS_FIXED();
  return queue.run(id, async () => {
    if ((await repository.find(id))?.status === 'creating') {
      throw sandboxErrors.SANDBOX_NOT_RUNNING({ details: { status: 'creating' } });
    }
    // The record comes first: a start from now on goes by it.
    const changed = await change(context, id, SETTLED, { egressAllow: allowed });
    try {
      await enforce.call(driver, id, allowed);
    } catch (error) {
      await change(context, id, ANY_STATUS, { egressAllow: previous });
      throw error;
    }
    return changed;
  });
}

async function change(
  { repository, watch }: SandboxContext,
  id: string,
  from: readonly SandboxStatus[],
  wanted: SandboxChange,
): Promise<Sandbox> {
  const changed = await repository.change(id, from, wanted);
  if (changed === null) throw sandboxErrors.SANDBOX_NOT_FOUND();
  watch.announce(id, changed);
  return changed;
}
