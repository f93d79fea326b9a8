import type { KubeClient, KubeObject } from '@svc/kube';
import type { ResourceResult } from '@svc/protocol';
import { waitEstablished } from './custom-kinds.ts';
import { inWaves } from './order.ts';
import type { PlannedObject } from './plan.ts';
import { failedResource, resourceResult } from './resource-result.ts';

export interface ApplyRequest {
  client: KubeClient;
  fieldManager: string;
  force: boolean;
  signal: AbortSignal;
}

/** What the server would make of each object; `null` where a dry run could not be asked. */
export type DryRun = ReadonlyMap<PlannedObject, { object: KubeObject; created: boolean } | null>;

export interface DryRunOutcome {
  results: DryRun;
  failures: ResourceResult[];
  warnings: string[];
}

export interface AppliedObject {
  planned: PlannedObject;
  /** As the server has it now. */
  object: KubeObject;
  result: ResourceResult;
}

export interface ApplyOutcome {
  applied: AppliedObject[];
  failure: ResourceResult | null;
  /** Behind the failure: not touched. */
  skipped: ResourceResult[];
  warnings: string[];
}

const DRY_RUNS_AT_ONCE = 4;

/** Asks the server about every object before the first one is changed: validation, admission, quotas, conflicts. */
export async function dryRunAll(request: ApplyRequest, objects: readonly PlannedObject[]): Promise<DryRunOutcome> {
  const results = new Map<PlannedObject, { object: KubeObject; created: boolean } | null>();
  const failures: ResourceResult[] = [];
  const warnings = new Set<string>();
  const waiting = [...objects];
  const work = async (): Promise<void> => {
    for (let planned = waiting.shift(); planned !== undefined; planned = waiting.shift()) {
      request.signal.throwIfAborted();
      if (planned.dependsOnManifest) {
        results.set(planned, null);
        continue;
      }
      try {
        const answer = await request.client.apply(planned.object, { ...request, dryRun: true });
        results.set(planned, { object: answer.object, created: answer.created });
        for (const warning of answer.warnings) warnings.add(warning);
      } catch (error) {
        request.signal.throwIfAborted();
        failures.push(failedResource(planned.object, error, planned.field));
      }
    }
  };
  await Promise.all(Array.from({ length: DRY_RUNS_AT_ONCE }, work));
  return { results, failures, warnings: [...warnings] };
}

/** Wave after wave, one object after the other; the first failure ends it. `progress` hears how far it is. */
export async function applyAll(
  request: ApplyRequest,
  objects: readonly PlannedObject[],
  dryRun: DryRun,
  progress: (done: number) => void,
): Promise<ApplyOutcome> {
  const outcome: ApplyOutcome = { applied: [], failure: null, skipped: [], warnings: [] };
  const warnings = new Set<string>();
  const ordered = inWaves(objects).flat();
  for (const [index, planned] of ordered.entries()) {
    try {
      request.signal.throwIfAborted();
      const applied = await applyOne(request, planned, dryRun, warnings);
      outcome.applied.push(applied);
      progress(index + 1);
    } catch (error) {
      outcome.failure = failedResource(
        planned.object,
        request.signal.aborted ? request.signal.reason : error,
        planned.field,
      );
      outcome.skipped = ordered
        .slice(index + 1)
        .map(({ object }) => resourceResult(object, { action: 'skipped', health: 'unknown' }));
      break;
    }
  }
  return { ...outcome, warnings: [...warnings] };
}

async function applyOne(
  request: ApplyRequest,
  planned: PlannedObject,
  dryRun: DryRun,
  warnings: Set<string>,
): Promise<AppliedObject> {
  const { client, signal } = request;
  const before = dryRun.get(planned)?.object.metadata.resourceVersion;
  const answer = await client.apply(planned.object, request);
  for (const warning of answer.warnings) warnings.add(warning);
  if (planned.object.kind === 'CustomResourceDefinition') {
    await waitEstablished(client, planned.object.metadata.name, signal);
  }
  const unchanged = !answer.created && before !== undefined && before === answer.object.metadata.resourceVersion;
  const action = answer.created ? 'created' : unchanged ? 'unchanged' : 'configured';
  return { planned, object: answer.object, result: resourceResult(answer.object, { action, health: 'unknown' }) };
}
