import { fieldAt, type KubeClient, type KubeObject } from '@svc/kube';
import { parseQuantity } from '@svc/kube/values';
import type { Usage, UsageOf } from './usage.ts';

/** `NAMESPACE/POD/CONTAINER` -> the limit, else the request, of each resource; 0 if neither is set. */
type Bounds = Map<string, Usage>;

const PAGE_SIZE = 100;

/**
 * Usage of the running pods in these namespaces relative to their containers' limits, else requests. A container
 * without either is not counted. Usage is null if metrics.k8s.io is unavailable; the number of pods is still reported.
 */
export async function usageOfNamespaces(
  client: KubeClient,
  namespaces: readonly string[],
  signal: AbortSignal,
): Promise<{ runningPods: number; usage: UsageOf | null }> {
  let runningPods = 0;
  const bounds: Bounds = new Map();
  for (const namespace of namespaces) {
    const selection = { namespace, fieldSelector: 'status.phase=Running', pageSize: PAGE_SIZE, signal };
    for await (const { items } of client.list({ apiVersion: 'v1', kind: 'Pod' }, selection)) {
      runningPods += items.length;
      for (const pod of items) noteBounds(pod, namespace, bounds);
    }
  }
  const available: Usage = { cpu: 0, memory: 0 };
  for (const { cpu, memory } of bounds.values()) {
    available.cpu += cpu;
    available.memory += memory;
  }
  const used = await usedWithin(client, namespaces, bounds, signal);
  return { runningPods, usage: used === null ? null : { used, available } };
}

function noteBounds(pod: KubeObject, namespace: string, bounds: Bounds): void {
  const containers = fieldAt(pod, 'spec', 'containers');
  if (!Array.isArray(containers)) return;
  for (const container of containers as readonly unknown[]) {
    const bound = (resource: string): number =>
      parseQuantity(fieldAt(container, 'resources', 'limits', resource)) ??
      parseQuantity(fieldAt(container, 'resources', 'requests', resource)) ??
      0;
    const usage = { cpu: bound('cpu'), memory: bound('memory') };
    const name = String(fieldAt(container, 'name'));
    if (usage.cpu > 0 || usage.memory > 0) bounds.set(`${namespace}/${pod.metadata.name}/${name}`, usage);
  }
}

async function usedWithin(
  client: KubeClient,
  namespaces: readonly string[],
  bounds: Bounds,
  signal: AbortSignal,
): Promise<Usage | null> {
  const used: Usage = { cpu: 0, memory: 0 };
  try {
    for (const namespace of namespaces) {
      const kind = { apiVersion: 'metrics.k8s.io/v1beta1', kind: 'PodMetrics' };
      for await (const { items } of client.list(kind, { namespace, signal })) {
        for (const pod of items) addUsed(pod, namespace, bounds, used);
      }
    }
    return used;
  } catch {
    signal.throwIfAborted();
    return null; // not installed, not ready or not permitted
  }
}

function addUsed(pod: KubeObject, namespace: string, bounds: Bounds, used: Usage): void {
  const containers = fieldAt(pod, 'containers');
  if (!Array.isArray(containers)) return;
  for (const container of containers as readonly unknown[]) {
    const bound = bounds.get(`${namespace}/${pod.metadata.name}/${String(fieldAt(container, 'name'))}`);
    if (bound === undefined) continue;
    if (bound.cpu > 0) used.cpu += parseQuantity(fieldAt(container, 'usage', 'cpu')) ?? 0;
    if (bound.memory > 0) used.memory += parseQuantity(fieldAt(container, 'usage', 'memory')) ?? 0;
  }
}
