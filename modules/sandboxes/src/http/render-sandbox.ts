import type { Static } from 'typebox';
import type { Sandbox } from '../domain/sandbox.ts';
import type { sandboxSchema } from './schemas.ts';

/** The sandbox as the contract has it. */
export function renderSandbox(sandbox: Sandbox): Static<typeof sandboxSchema> {
  return {
    id: sandbox.id,
    name: sandbox.name,
    image: sandbox.image,
    status: sandbox.status,
    state_reason: sandbox.stateReason,
    error: sandbox.fault,
    created_at: sandbox.createdAt,
    started_at: sandbox.startedAt,
    expires_at: sandbox.expiresAt,
    last_activity_at: sandbox.lastActivityAt,
    labels: sandbox.labels,
    environment: sandbox.environment,
    resources: {
      cpu: sandbox.resources.cpuMillis / 1000,
      memory_mb: sandbox.resources.memoryMb,
      disk_mb: sandbox.resources.diskMb,
      pids: sandbox.resources.pids,
    },
    driver: sandbox.driver,
    isolation: sandbox.isolation,
    network: sandbox.network,
  };
}
