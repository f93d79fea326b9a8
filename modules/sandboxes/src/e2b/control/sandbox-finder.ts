import type { Clock } from '@svc/runtime';
import type { Sandbox } from '../../domain/sandbox.ts';
import type { SandboxService } from '../../domain/sandbox-service.ts';
import { sandboxErrors } from '../../errors.ts';
import { fromE2bId } from '../sandbox-ids.ts';

/**
 * Finds a sandbox as an E2B client sees it: one that has expired, or that cannot run again, is gone. The sweep deletes
 * expired sandboxes a few seconds late.
 */
export async function findSandbox(
  service: SandboxService,
  clock: Clock,
  workspaceUuid: string,
  e2bId: string,
): Promise<Sandbox> {
  const sandbox = await findAny(service, workspaceUuid, e2bId);
  if (isOver(sandbox, clock.now())) throw sandboxErrors.SANDBOX_NOT_FOUND();
  return sandbox;
}

/** Finds a sandbox in any state. */
export async function findAny(service: SandboxService, workspaceUuid: string, e2bId: string): Promise<Sandbox> {
  const id = fromE2bId(e2bId);
  if (id === null) throw sandboxErrors.SANDBOX_NOT_FOUND();
  return service.get(workspaceUuid, id);
}

/** Whether the sandbox is gone for clients, although its record may remain for a while. */
export function isOver(sandbox: Sandbox, now: Date): boolean {
  return sandbox.status === 'error' || (isExpired(sandbox, now) && sandbox.onExpiry === 'delete');
}

/**
 * Whether the sandbox is paused for clients. A stopped one keeps its files and continues with a start, as a paused one
 * without its memory. The sweep pauses what has expired a few seconds late.
 */
export function isSuspended(sandbox: Sandbox, now: Date): boolean {
  return sandbox.status === 'stopped' || sandbox.pausedAt !== null || isExpired(sandbox, now);
}

export function isExpired({ expiresAt }: Sandbox, now: Date): boolean {
  return expiresAt !== null && expiresAt <= now.toISOString();
}
