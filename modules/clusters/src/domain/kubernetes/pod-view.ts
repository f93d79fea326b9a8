import { countAt, fieldAt, hasCondition, isRecord, recordsAt, textAt } from '@svc/kube/values';
import { Type, type Static } from 'typebox';
import { nullableText, usageFields } from './node-view.ts';
import { podMessageOf } from './pod-message.ts';
import { containerReasonOf, podStateOf } from './pod-state.ts';
import type { UsageByName } from './usage.ts';

const containerSchema = Type.Object({
  name: Type.String(),
  image: nullableText,
  init: Type.Boolean({ description: 'Init container, or a sidecar that runs beside the others' }),
  state: Type.String({
    description: 'Running, or the reason it is not: CrashLoopBackOff, ImagePullBackOff, Completed',
  }),
  ready: Type.Boolean(),
  restarts: Type.Integer(),
});

export const podSchema = Type.Object({
  namespace: Type.String(),
  name: Type.String(),
  state: Type.String({ description: 'As kubectl shows it: Running, CrashLoopBackOff, Init:1/2, Terminating' }),
  message: Type.Union([Type.String(), Type.Null()], {
    description: 'Why the pod is not running, as reported by the kubelet or scheduler; null if nothing is wrong',
  }),
  phase: nullableText,
  ready: Type.Boolean(),
  ready_containers: Type.Integer(),
  total_containers: Type.Integer(),
  restarts: Type.Integer(),
  created_at: nullableText,
  node: nullableText,
  ip: nullableText,
  owner: Type.Union([Type.Object({ kind: Type.String(), name: Type.String() }), Type.Null()], {
    description: 'Workload that created the pod; the Deployment for pods of its ReplicaSets',
  }),
  default_container: nullableText,
  containers: Type.Array(containerSchema),
  ...usageFields,
});

/** Exposes names, images and states only; never reads a container's environment, arguments or volumes. */
export function toPodView(pod: unknown, usages: UsageByName): Static<typeof podSchema> {
  const namespace = textAt(pod, 'metadata', 'namespace') ?? '';
  const name = textAt(pod, 'metadata', 'name') ?? '';
  const usage = usages.get(`${namespace}/${name}`);
  const statuses = recordsAt(pod, 'status', 'containerStatuses');
  const containers = [
    ...toContainersView(pod, 'containers', 'containerStatuses'),
    ...toContainersView(pod, 'initContainers', 'initContainerStatuses'),
  ];
  return {
    namespace,
    name,
    state: podStateOf(pod),
    message: podMessageOf(pod),
    phase: textAt(pod, 'status', 'phase'),
    ready: hasCondition(pod, 'Ready'),
    ready_containers: statuses.filter(({ ready }) => ready === true).length,
    total_containers: recordsAt(pod, 'spec', 'containers').length,
    restarts: containers.reduce((sum, { restarts }) => sum + restarts, 0),
    created_at: textAt(pod, 'metadata', 'creationTimestamp'),
    node: textAt(pod, 'spec', 'nodeName'),
    ip: textAt(pod, 'status', 'podIP'),
    owner: ownerOf(pod),
    default_container: textAt(pod, 'metadata', 'annotations', 'kubectl.kubernetes.io/default-container'),
    containers,
    cpu_usage_cores: usage?.cpuCores ?? null,
    memory_usage_bytes: usage?.memoryBytes ?? null,
  };
}

type ContainerView = Static<typeof containerSchema>;

function toContainersView(pod: unknown, specs: string, statuses: string): ContainerView[] {
  const reported = recordsAt(pod, 'status', statuses);
  return recordsAt(pod, 'spec', specs).map((spec) => {
    const status = reported.find(({ name }) => name === spec['name']);
    const isRunning = isRecord(fieldAt(status, 'state', 'running'));
    return {
      name: textAt(spec, 'name') ?? '',
      image: textAt(spec, 'image'),
      init: specs === 'initContainers',
      state: isRunning ? 'Running' : (containerReasonOf(status) ?? 'Waiting'),
      ready: status?.['ready'] === true,
      restarts: countAt(status, 'restartCount'),
    };
  });
}

function ownerOf(pod: unknown): { kind: string; name: string } | null {
  const owner = recordsAt(pod, 'metadata', 'ownerReferences').find(({ controller }) => controller === true);
  const kind = textAt(owner, 'kind');
  const name = textAt(owner, 'name');
  if (kind === null || name === null) return null;
  const hash = textAt(pod, 'metadata', 'labels', 'pod-template-hash');
  if (kind !== 'ReplicaSet' || hash === null || !name.endsWith(`-${hash}`)) return { kind, name };
  return { kind: 'Deployment', name: name.slice(0, -hash.length - 1) };
}
