import { countAt, fieldAt, hasCondition, isRecord, recordsAt, textAt } from '@svc/kube/values';
import { Type, type Static } from 'typebox';
import { nullableText } from './node-view.ts';

export const workloadKindSchema = Type.Union(
  [
    Type.Literal('Deployment'),
    Type.Literal('StatefulSet'),
    Type.Literal('DaemonSet'),
    Type.Literal('CronJob'),
    Type.Literal('Job'),
  ],
  { description: 'Kubernetes kind' },
);

export type WorkloadKind = Static<typeof workloadKindSchema>;

export const workloadSchema = Type.Object({
  kind: workloadKindSchema,
  namespace: Type.String(),
  name: Type.String(),
  state: Type.String({
    description:
      'available, progressing, failed or scaled_down; suspended if paused, completed for a Job, scheduled for a CronJob',
  }),
  ready: Type.Integer({ description: 'Ready pods; for a Job, succeeded pods; for a CronJob, active Jobs' }),
  desired: Type.Integer({ description: 'Desired pods' }),
  updated: Type.Integer({ description: 'Pods of the latest template' }),
  images: Type.Array(Type.String()),
  created_at: nullableText,
  selector: Type.Union([Type.String(), Type.Null()], {
    description: 'Selector of its pods, for `label_selector` of /pods; null if it cannot be expressed as one',
  }),
});

type WorkloadView = Static<typeof workloadSchema>;
type Numbers = Pick<WorkloadView, 'state' | 'ready' | 'desired' | 'updated'>;

/** In listing order. */
export const WORKLOAD_PATHS: Readonly<Record<WorkloadKind, { group: string; plural: string }>> = {
  Deployment: { group: '/apis/apps/v1', plural: 'deployments' },
  StatefulSet: { group: '/apis/apps/v1', plural: 'statefulsets' },
  DaemonSet: { group: '/apis/apps/v1', plural: 'daemonsets' },
  CronJob: { group: '/apis/batch/v1', plural: 'cronjobs' },
  Job: { group: '/apis/batch/v1', plural: 'jobs' },
};

const NUMBERS: Readonly<Record<WorkloadKind, (object: unknown) => Numbers>> = {
  Deployment: replicaNumbers,
  StatefulSet: replicaNumbers,
  DaemonSet: daemonNumbers,
  CronJob: cronNumbers,
  Job: jobNumbers,
};

export function toWorkloadView(kind: WorkloadKind, object: unknown): WorkloadView {
  const template = kind === 'CronJob' ? ['spec', 'jobTemplate', 'spec', 'template'] : ['spec', 'template'];
  const images = recordsAt(object, ...template, 'spec', 'containers').map((each) => textAt(each, 'image') ?? '');
  return {
    kind,
    namespace: textAt(object, 'metadata', 'namespace') ?? '',
    name: textAt(object, 'metadata', 'name') ?? '',
    ...NUMBERS[kind](object),
    images: [...new Set(images)].filter((image) => image !== ''),
    created_at: textAt(object, 'metadata', 'creationTimestamp'),
    selector: renderSelector(object),
  };
}

function replicaNumbers(object: unknown): Numbers {
  const replicas = fieldAt(object, 'spec', 'replicas');
  const desired = typeof replicas === 'number' ? replicas : 1;
  const ready = countAt(object, 'status', 'readyReplicas');
  const updated = countAt(object, 'status', 'updatedReplicas');
  return { state: rolloutState(object, { ready, updated, desired }), ready, updated, desired };
}

function daemonNumbers(object: unknown): Numbers {
  const desired = countAt(object, 'status', 'desiredNumberScheduled');
  const ready = countAt(object, 'status', 'numberReady');
  const updated = countAt(object, 'status', 'updatedNumberScheduled');
  return { state: rolloutState(object, { ready, updated, desired }), ready, updated, desired };
}

function rolloutState(object: unknown, counts: { ready: number; updated: number; desired: number }): string {
  const { ready, updated, desired } = counts;
  const isObserved = countAt(object, 'status', 'observedGeneration') >= countAt(object, 'metadata', 'generation');
  if (isObserved && desired === 0) return 'scaled_down';
  if (isObserved && ready >= desired && updated >= desired) return 'available';
  const isLate = recordsAt(object, 'status', 'conditions').some(
    ({ type, reason }) => type === 'Progressing' && reason === 'ProgressDeadlineExceeded',
  );
  return isObserved && isLate ? 'failed' : 'progressing';
}

function jobNumbers(object: unknown): Numbers {
  const completions = fieldAt(object, 'spec', 'completions');
  const desired = typeof completions === 'number' ? completions : 1;
  const ready = countAt(object, 'status', 'succeeded');
  const isSuspended = fieldAt(object, 'spec', 'suspend') === true;
  const other = isSuspended ? 'suspended' : 'progressing';
  const state = hasCondition(object, 'Complete') ? 'completed' : hasCondition(object, 'Failed') ? 'failed' : other;
  return { state, ready, desired, updated: desired };
}

function cronNumbers(object: unknown): Numbers {
  const running = recordsAt(object, 'status', 'active').length;
  const isSuspended = fieldAt(object, 'spec', 'suspend') === true;
  return { state: isSuspended ? 'suspended' : 'scheduled', ready: running, desired: running, updated: running };
}

/** As a Kubernetes label query: `app=web,tier in (a,b)`. */
function renderSelector(object: unknown): string | null {
  const labels = fieldAt(object, 'spec', 'selector', 'matchLabels');
  const terms = Object.entries(isRecord(labels) ? labels : {}).map(([key, value]) => `${key}=${String(value)}`);
  for (const expression of recordsAt(object, 'spec', 'selector', 'matchExpressions')) {
    const term = renderTerm(expression);
    if (term === null) return null;
    terms.push(term);
  }
  return terms.length === 0 ? null : terms.join(',');
}

function renderTerm(expression: Record<string, unknown>): string | null {
  const key = textAt(expression, 'key');
  const listed = expression['values'];
  const values = Array.isArray(listed) ? listed.join(',') : '';
  switch (key === null ? null : expression['operator']) {
    case 'In':
      return `${key} in (${values})`;
    case 'NotIn':
      return `${key} notin (${values})`;
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return null;
  }
}
