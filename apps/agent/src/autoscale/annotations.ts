import { fieldAt, isRecord, type KubeObject } from '@svc/kube';
import { agentErrors } from '../errors.ts';

/** The autoscaling requested by a workload's annotations. */
export interface AutoScaleWish {
  minReplicas: number;
  maxReplicas: number;
  /** Percent of the requested CPU time. */
  targetCpu: number;
}

const DEFAULTS = { minReplicas: 1, maxReplicas: 10, targetCpu: 80 } as const;
const MAX_REPLICAS = 10_000;
const SCALABLE: ReadonlySet<string> = new Set(['apps/v1/Deployment', 'apps/v1/StatefulSet']);
const TEMPLATE = ['spec', 'template', 'metadata', 'annotations'] as const;

/**
 * Null if autoscaling is not requested. A workload's own annotation overrides its pod template's, key by key. Invalid
 * values are refused with the annotation's path before anything is changed.
 */
export function autoScaleWish(object: KubeObject, field: string, keyPrefix: string): AutoScaleWish | null {
  const read = (name: string): Annotation | null => findAnnotation(object, field, `${keyPrefix}/${name}`);
  const wanted = read('auto-scale');
  if (wanted === null || wanted.value === 'false') return null;
  if (wanted.value !== 'true') throw invalid(wanted, 'must be "true" or "false"');
  if (!SCALABLE.has(`${object.apiVersion}/${object.kind}`)) {
    throw invalid(wanted, `a ${object.kind} cannot be scaled; a Deployment and a StatefulSet can`);
  }
  const minimum = read('min-replicas');
  const maximum = read('max-replicas');
  const target = read('target-cpu');
  const wish = {
    minReplicas: parseInteger(minimum, DEFAULTS.minReplicas, 1, MAX_REPLICAS),
    maxReplicas: parseInteger(maximum, DEFAULTS.maxReplicas, 1, MAX_REPLICAS),
    targetCpu: parseInteger(target, DEFAULTS.targetCpu, 1, 1000),
  };
  if (wish.maxReplicas >= wish.minReplicas) return wish;
  if (maximum === null) return { ...wish, maxReplicas: wish.minReplicas };
  throw invalid(maximum, `is ${wish.maxReplicas}, less than min-replicas ${wish.minReplicas}`);
}

/**
 * Names of the containers that request no CPU, without which a utilization target is meaningless. Includes sidecar init
 * containers, which autoscalers count since Kubernetes 1.29.
 */
export function containersWithoutRequests(object: KubeObject): string[] {
  const spec = fieldAt(object, 'spec', 'template', 'spec');
  const [containers, initial] = [fieldAt(spec, 'containers'), fieldAt(spec, 'initContainers')];
  const sidecars = Array.isArray(initial) ? initial.filter((each) => fieldAt(each, 'restartPolicy') === 'Always') : [];
  return [...(Array.isArray(containers) ? containers : []), ...sidecars]
    .filter((each) => fieldAt(each, 'resources', 'requests', 'cpu') === undefined)
    .filter((each) => fieldAt(each, 'resources', 'limits', 'cpu') === undefined) // a limit is also a request
    .map((each) => String(fieldAt(each, 'name')));
}

interface Annotation {
  value: string;
  field: string;
}

function findAnnotation(object: KubeObject, objectField: string, key: string): Annotation | null {
  const places: readonly (readonly [unknown, string])[] = [
    [object.metadata.annotations, `${objectField}.metadata.annotations`],
    [fieldAt(object, ...TEMPLATE), `${objectField}.${TEMPLATE.join('.')}`],
  ];
  for (const [annotations, path] of places) {
    const value = isRecord(annotations) ? annotations[key] : undefined;
    if (value === undefined) continue;
    const field = `${path}["${key}"]`;
    if (typeof value === 'string') return { value, field };
    throw invalid({ value: '', field }, 'must be a string: put it into quotes');
  }
  return null;
}

function parseInteger(annotation: Annotation | null, otherwise: number, least: number, most: number): number {
  if (annotation === null) return otherwise;
  const value = Number(annotation.value);
  if (/^\d{1,6}$/.test(annotation.value) && value >= least && value <= most) return value;
  throw invalid(annotation, `is ${JSON.stringify(annotation.value)}; it must be an integer from ${least} to ${most}`);
}

function invalid({ field }: Annotation, reason: string): Error {
  return agentErrors.INVALID_REQUEST({ details: { field, reason: `${field} ${reason}` } });
}
