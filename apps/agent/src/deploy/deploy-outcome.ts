import { createHash } from 'node:crypto';
import type { DeployCommand, DeployResult, MessageError, ResourceResult } from '@svc/protocol';
import { toMessageError } from '../commands/error-of.ts';
import type { CommandContext, CommandOutcome } from '../commands/handler.ts';
import { agentErrors } from '../errors.ts';
import type { AppliedObject, ApplyOutcome, DryRunOutcome } from './apply.ts';
import type { PlannedObject } from './plan.ts';
import { noteHealth, type ReadinessEnd } from './readiness.ts';
import { resourceResult } from './resource-result.ts';

/** Objects of this manifest and the previous one. */
const MAX_RESULTS = 2000;

/** The dry run failed: nothing was changed. */
export function refusedOutcome(
  payload: DeployCommand,
  planned: readonly PlannedObject[],
  dryRun: DryRunOutcome,
): CommandOutcome {
  const failed = new Set(dryRun.failures.map((failure) => `${failure.kind}/${failure.namespace}/${failure.name}`));
  const untouched = planned
    .filter(({ object }) => !failed.has(`${object.kind}/${object.metadata.namespace ?? ''}/${object.metadata.name}`))
    .map(({ object }) => resourceResult(object, { action: 'skipped', health: 'unknown' }));
  const deploy = deployResult(payload, [...dryRun.failures, ...untouched], dryRun.warnings, false);
  return { status: 'failed', error: firstError(dryRun.failures, 'the cluster refused the manifest'), deploy };
}

interface FailedRun {
  payload: DeployCommand;
  context: CommandContext;
}

/** An apply failed, or the deploy was cancelled midway: objects applied before that stay. */
export function failedOutcome(
  { payload, context }: FailedRun,
  outcome: ApplyOutcome,
  warnings: readonly string[],
): CommandOutcome {
  const { applied, failure, skipped } = outcome;
  noteHealth(applied);
  const failures = failure === null ? [] : [failure];
  const resources = [...applied.map(({ result }) => result), ...failures, ...skipped];
  const deploy = deployResult(payload, resources, warnings, applied.length > 0);
  if (context.signal.aborted) {
    return { status: 'cancelled', error: toMessageError(context.signal.reason), deploy };
  }
  return { status: 'failed', error: firstError(failures, 'an object could not be applied'), deploy };
}

/** The first object that is not ready, with the reason; null if all are. */
export function readinessError(end: ReadinessEnd, applied: readonly AppliedObject[]): MessageError | null {
  if (end === 'ready') return null;
  const first = applied.find(({ result }) => result.health !== 'ready');
  const resource = first === undefined ? '' : `${first.object.kind}/${first.object.metadata.name}`;
  const reason = `${resource} is not ready: ${first?.result.message ?? 'no reason known'}`;
  return toMessageError(agentErrors.NOT_READY({ details: { field: resource, reason } }));
}

/** Null if everything no longer wanted was deleted. */
export function pruneError(results: readonly ResourceResult[]): MessageError | null {
  const failures = results.filter(({ action }) => action === 'failed');
  return failures.length === 0 ? null : firstError(failures, 'an object could not be deleted');
}

function firstError(failures: readonly ResourceResult[], otherwise: string): MessageError {
  const error = failures.find((failure) => failure.error !== undefined)?.error;
  return error ?? toMessageError(agentErrors.APPLY_FAILED({ details: { field: 'manifest', reason: otherwise } }));
}

/** The deploy result for the platform, within the limits of a message. */
export function deployResult(
  payload: DeployCommand,
  resources: ResourceResult[],
  warnings: readonly string[],
  partiallyApplied: boolean,
): DeployResult {
  const count = (action: ResourceResult['action']): number => resources.filter((each) => each.action === action).length;
  return {
    project_id: payload.project_id,
    namespace: payload.namespace,
    dry_run: payload.dry_run ?? false,
    manifest_sha256: createHash('sha256').update(payload.manifest).digest('hex'),
    ...(payload.revision === undefined ? {} : { revision: payload.revision }),
    partially_applied: partiallyApplied,
    summary: {
      created: count('created'),
      configured: count('configured'),
      unchanged: count('unchanged'),
      pruned: count('pruned'),
      skipped: count('skipped'),
      failed: count('failed'),
    },
    resources: resources.slice(0, MAX_RESULTS),
    warnings: [...new Set(warnings)].slice(0, 256),
  };
}
