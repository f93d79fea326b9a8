import type { CommandName } from '@svc/protocol';
import type { AgentConfig } from '../config/schema.ts';
import { agentErrors } from '../errors.ts';

/** Enforces the cluster owner's policy, for all callers and before any other check. Throws FORBIDDEN. */
export function assertAllowed(
  policy: AgentConfig['policy'],
  command: CommandName,
  payload: { namespace: string; dry_run?: boolean },
): void {
  if (!policy.namespaces.includes('*') && !policy.namespaces.includes(payload.namespace)) {
    throw forbidden('policy.namespaces', `namespace ${payload.namespace} is not allowed on this cluster`);
  }
  if (policy.read_only && command !== 'logs' && payload.dry_run !== true) {
    throw forbidden('policy.read_only', 'this cluster is read-only by its policy');
  }
  if (command === 'exec' && !policy.exec) throw forbidden('policy.exec', 'exec is not allowed on this cluster');
  if (command === 'logs' && !policy.logs) throw forbidden('policy.logs', 'logs are not allowed on this cluster');
}

function forbidden(field: string, reason: string): Error {
  return agentErrors.FORBIDDEN({ details: { field, reason } });
}
