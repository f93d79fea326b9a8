import type { Clock } from '@svc/runtime';
import type { Sandbox } from '../domain/sandbox.ts';
import type { SandboxService } from '../domain/sandbox-service.ts';
import { sandboxErrors } from '../errors.ts';
import { isSuspended } from './control/sandbox-finder.ts';

const START_WAIT_MS = 60_000;

/**
 * Resumes a paused sandbox or starts a stopped one, until the new expiry. One whose time is over without the sweep having
 * stopped it is stopped here: its client counts on a restart. The expiry is set before the start, so that what runs again
 * always ends; if it cannot run, it is kept as it was.
 */
export async function continueSandbox(
  service: SandboxService,
  { id, workspaceUuid, status, pausedAt, onExpiry, expiresAt: before }: Sandbox,
  expiresAt: string,
  signal: AbortSignal,
): Promise<Sandbox> {
  if (status === 'running' && pausedAt === null && onExpiry === 'stop') {
    await service.stop(workspaceUuid, id, 'EXPIRED', before);
  }
  await service.change(workspaceUuid, id, { expiresAt });
  try {
    const sandbox = await service.start(workspaceUuid, id, START_WAIT_MS, signal);
    if (sandbox.status !== 'error') return sandbox;
    throw sandboxErrors.RUNTIME_FAILED({ details: { reason: sandbox.fault?.message ?? 'it did not start' } });
  } catch (error) {
    await service.change(workspaceUuid, id, { expiresAt: before });
    throw error;
  }
}

/**
 * Continues a paused sandbox that is used, if its creator wanted that; any other stays paused until a client connects to
 * it, and looks gone: SANDBOX_GONE.
 */
export async function continueOnUse(
  service: SandboxService,
  clock: Clock,
  sandbox: Sandbox,
  signal: AbortSignal,
): Promise<Sandbox> {
  if (!isSuspended(sandbox, clock.now())) return sandbox;
  const { id, resumeSeconds } = sandbox;
  if (resumeSeconds === null) throw sandboxErrors.SANDBOX_GONE({ details: { sandbox: id } });
  const expiresAt = new Date(clock.nowMs() + resumeSeconds * 1000).toISOString();
  return continueSandbox(service, sandbox, expiresAt, signal);
}
