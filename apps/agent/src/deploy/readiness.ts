import { isStatusError, referenceOf, type KubeClient } from '@svc/kube';
import type { Logger } from '@svc/telemetry';
import { pause, type Clock } from '@svc/runtime';
import type { AppliedObject } from './apply.ts';
import { notReadyReason } from './not-ready-reason.ts';
import { healthOf, type ObjectHealth } from './object-health.ts';

export interface ReadinessRequest {
  client: KubeClient;
  clock: Clock;
  timeoutMs: number;
  signal: AbortSignal;
  log: Logger;
  progress: (ready: number, waitingFor: string) => void;
}

export type ReadinessEnd = 'ready' | 'failed' | 'timed_out';

const INTERVAL_MS = 1000;

/** Polls each object until it is ready, one has failed, or time is up. Fills in health and message. */
export async function waitUntilReady(
  request: ReadinessRequest,
  applied: readonly AppliedObject[],
): Promise<ReadinessEnd> {
  const { clock, timeoutMs, signal } = request;
  const deadlineMs = clock.nowMs() + timeoutMs;
  const waiting = new Set(applied);
  for (const each of waiting) settle(each, healthOf(each.object), waiting);
  while (waiting.size > 0) {
    if ([...waiting].some((each) => each.result.health === 'failed')) return explained(request, waiting, 'failed');
    if (clock.nowMs() >= deadlineMs) return explained(request, waiting, 'timed_out');
    const [next] = waiting;
    request.progress(applied.length - waiting.size, next === undefined ? '' : describe(next));
    await pause(clock, INTERVAL_MS, signal);
    signal.throwIfAborted();
    for (const each of waiting) settle(each, await currentHealth(request, each), waiting);
  }
  return 'ready';
}

/** Checks once, without waiting. */
export function noteHealth(applied: readonly AppliedObject[]): void {
  for (const each of applied) settle(each, healthOf(each.object), new Set());
}

function settle(each: AppliedObject, { health, message }: ObjectHealth, waiting: Set<AppliedObject>): void {
  each.result.health = health;
  if (message === '') delete each.result.message;
  else each.result.message = message;
  if (health === 'ready') waiting.delete(each);
}

async function currentHealth({ client, signal, log }: ReadinessRequest, each: AppliedObject): Promise<ObjectHealth> {
  try {
    const live = await client.get(referenceOf(each.object), signal);
    if (live === null) return { health: 'failed', message: 'was deleted by another client' };
    each.object = live;
    return healthOf(live);
  } catch (error) {
    signal.throwIfAborted();
    if (isStatusError(error, 403)) return { health: 'unknown', message: 'the agent may not read it' };
    log.debug({ err: error }, 'readiness could not be read');
    return { health: 'progressing', message: 'the Kubernetes API does not answer' };
  }
}

/** Adds the reason: a message of the first failing pod says more than a count of replicas. */
async function explained(
  request: ReadinessRequest,
  waiting: ReadonlySet<AppliedObject>,
  end: ReadinessEnd,
): Promise<ReadinessEnd> {
  for (const each of waiting) {
    if (each.result.health === 'progressing' && end === 'timed_out') each.result.health = 'degraded';
    const reason = await notReadyReason(request, each.object).catch(() => null); // a missing explanation is no failure
    if (reason !== null) each.result.message = `${each.result.message ?? 'is not ready'}; ${reason}`.slice(0, 4096);
  }
  return end;
}

function describe(each: AppliedObject): string {
  return `${each.object.kind}/${each.object.metadata.name} ${each.result.message ?? ''}`.trim();
}
