import { sandboxErrors } from '../../errors.ts';
import type { SandboxContext } from '../context.ts';
import type { Sandbox, SandboxStatus } from '../sandbox.ts';
import type { SandboxService } from '../sandbox-service.ts';
import type { EgressRule } from './egress-rule.ts';
import { assertAppliesRules } from './rule-support.ts';

const ANY_STATUS: readonly SandboxStatus[] = ['creating', 'running', 'stopped', 'error'];

/**
 * Replaces the rules of a sandbox of this node. They apply to a running one when this resolves, and to others from their
 * start.
 */
export async function changeRules(
  context: SandboxContext,
  service: SandboxService,
  workspaceUuid: string,
  id: string,
  egressRules: readonly EgressRule[],
): Promise<Sandbox> {
  const sandbox = await service.held(workspaceUuid, id);
  const { repository, queue, live, watch, drivers, rules } = context;
  if (egressRules.length > 0) assertAppliesRules(drivers.of(sandbox), sandbox.network);
  return queue.run(id, async () => {
    const connection = live.findConnection(id);
    if (connection !== null) await rules.prepare({ id, egressRules }, connection);
    const changed = await repository.change(id, ANY_STATUS, { egressRules });
    if (changed === null) throw sandboxErrors.SANDBOX_NOT_FOUND();
    if (connection !== null) await rules.apply(changed);
    watch.announce(id, changed);
    return changed;
  });
}
