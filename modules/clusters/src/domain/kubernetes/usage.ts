import { isRecord, parseQuantity, recordsAt, textAt } from '@svc/kube/values';

export interface Usage {
  cpuCores: number;
  memoryBytes: number;
}

export type UsageByName = ReadonlyMap<string, Usage>;

/** Maps `namespace/name` (`name` for nodes) to usage from a `metrics.k8s.io` list. Pods report usage per container. */
export function usageByName(list: unknown): UsageByName {
  const found = new Map<string, Usage>();
  for (const item of recordsAt(list, 'items')) {
    const name = textAt(item, 'metadata', 'name');
    if (name === null) continue;
    const namespace = textAt(item, 'metadata', 'namespace');
    const parts = isRecord(item['usage']) ? [item] : recordsAt(item, 'containers');
    found.set(namespace === null ? name : `${namespace}/${name}`, sumUsage(parts));
  }
  return found;
}

function sumUsage(parts: readonly Record<string, unknown>[]): Usage {
  const sum: Usage = { cpuCores: 0, memoryBytes: 0 };
  for (const { usage } of parts) {
    if (!isRecord(usage)) continue;
    sum.cpuCores += parseQuantity(usage['cpu']) ?? 0;
    sum.memoryBytes += parseQuantity(usage['memory']) ?? 0;
  }
  return sum;
}
