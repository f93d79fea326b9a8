import { findCondition, fieldAt, hasCondition, isRecord, parseQuantity, recordsAt, textAt } from '@svc/kube/values';
import { Type, type Static } from 'typebox';
import type { UsageByName } from './usage.ts';

export const nullableText = Type.Union([Type.String(), Type.Null()]);
const nullableNumber = Type.Union([Type.Number(), Type.Null()]);

export const usageFields = {
  cpu_usage_cores: Type.Union([Type.Number(), Type.Null()], {
    description: 'Null if the cluster serves no metrics',
  }),
  memory_usage_bytes: nullableNumber,
};

export const nodeSchema = Type.Object({
  name: Type.String(),
  state: Type.Union([Type.Literal('ready'), Type.Literal('not_ready'), Type.Literal('unknown')], {
    description: 'unknown: the kubelet has stopped reporting',
  }),
  ready: Type.Boolean(),
  schedulable: Type.Boolean({ description: 'False if the node is cordoned' }),
  pressures: Type.Array(Type.String(), { description: 'Such as MemoryPressure or DiskPressure' }),
  roles: Type.Array(Type.String()),
  created_at: nullableText,
  kubelet_version: nullableText,
  os_image: nullableText,
  architecture: nullableText,
  internal_ip: nullableText,
  cpu_capacity_cores: nullableNumber,
  memory_capacity_bytes: nullableNumber,
  pods_capacity: nullableNumber,
  ...usageFields,
});

const ROLE_LABEL = 'node-role.kubernetes.io/';
const MAX_ROLES = 16;

export function toNodeView(node: unknown, usages: UsageByName): Static<typeof nodeSchema> {
  const name = textAt(node, 'metadata', 'name') ?? '';
  const usage = usages.get(name);
  const readiness = findCondition(node, 'Ready')?.['status'];
  const ready = readiness === 'True';
  const labels = fieldAt(node, 'metadata', 'labels');
  const addresses = recordsAt(node, 'status', 'addresses');
  return {
    name,
    state: ready ? 'ready' : readiness === 'False' ? 'not_ready' : 'unknown',
    ready,
    schedulable: fieldAt(node, 'spec', 'unschedulable') !== true,
    pressures: ['MemoryPressure', 'DiskPressure', 'PIDPressure'].filter((type) => hasCondition(node, type)),
    roles: Object.keys(isRecord(labels) ? labels : {})
      .filter((label) => label.startsWith(ROLE_LABEL))
      .map((label) => label.slice(ROLE_LABEL.length))
      .slice(0, MAX_ROLES),
    created_at: textAt(node, 'metadata', 'creationTimestamp'),
    kubelet_version: textAt(node, 'status', 'nodeInfo', 'kubeletVersion'),
    os_image: textAt(node, 'status', 'nodeInfo', 'osImage'),
    architecture: textAt(node, 'status', 'nodeInfo', 'architecture'),
    internal_ip: textAt(
      addresses.find(({ type }) => type === 'InternalIP'),
      'address',
    ),
    cpu_capacity_cores: parseQuantity(fieldAt(node, 'status', 'allocatable', 'cpu')),
    memory_capacity_bytes: parseQuantity(fieldAt(node, 'status', 'allocatable', 'memory')),
    pods_capacity: parseQuantity(fieldAt(node, 'status', 'allocatable', 'pods')),
    cpu_usage_cores: usage?.cpuCores ?? null,
    memory_usage_bytes: usage?.memoryBytes ?? null,
  };
}
