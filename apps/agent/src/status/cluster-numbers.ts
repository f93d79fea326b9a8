import { fieldAt, isStatusError, resourcePath, type KindReference, type KubeClient } from '@svc/kube';
import { hasCondition, parseQuantity } from '@svc/kube/values';
import type { ClusterStatus, Heartbeat } from '@svc/protocol';
import { usageFromKubelets } from './kubelet-usage.ts';
import type { LimitedPart, Limitations } from './limitations.ts';
import { usageOfNamespaces } from './namespace-usage.ts';
import type { Usage, UsageOf } from './usage.ts';

export interface ClusterNumbers {
  heartbeat(signal: AbortSignal): Promise<Heartbeat>;
  clusterStatus(signal: AbortSignal): Promise<ClusterStatus>;
}

interface NodeCounts {
  nodes: number;
  readyNodes: number;
  /** Names, for querying each kubelet; bounded. */
  names: string[];
  allocatable: Usage;
}

const MAX_ASKED_NODES = 100;

export interface ClusterNumbersOptions {
  client: KubeClient;
  kubernetesVersion: () => string;
  /** Namespaces that the agent may read; empty = the whole cluster. */
  namespaces: readonly string[];
  limitations: Limitations;
}

/** Reads numbers from the cluster on demand, as far as the agent's rights allow; caches nothing. */
export function createClusterNumbers(options: ClusterNumbersOptions): ClusterNumbers {
  const { client, kubernetesVersion, limitations, namespaces } = options;
  // An agent limited to some namespaces is not expected to see nodes.
  const part: LimitedPart = namespaces.length > 0 ? 'none' : 'kubernetes';
  const nodeCounts = (signal: AbortSignal) =>
    permitted(limitations, 'numbers of nodes', () => countNodes(client, signal), part);
  return {
    heartbeat: async (signal) => {
      try {
        const nodes = await nodeCounts(signal);
        const isScoped = nodes === null && namespaces.length > 0;
        const { usage, pods } = await (isScoped
          ? scopedNumbers(options, signal)
          : wholeNumbers(options, nodes, signal));
        const inOrder = isScoped || (nodes !== null && nodes.readyNodes === nodes.nodes);
        return {
          status: inOrder && usage !== null && pods !== null ? 'healthy' : 'degraded',
          metrics: {
            cpu_usage: fraction(usage?.used.cpu, usage?.available.cpu ?? 0),
            memory_usage: fraction(usage?.used.memory, usage?.available.memory ?? 0),
            active_pods: pods ?? 0,
          },
        };
      } catch {
        signal.throwIfAborted();
        // A heartbeat says that the agent is alive; an unresponsive cluster is reported in its status.
        return { status: 'unhealthy', metrics: { cpu_usage: 0, memory_usage: 0, active_pods: 0 } };
      }
    },
    clusterStatus: async (signal) => {
      const nodes = await nodeCounts(signal);
      const [pods, services] = await Promise.all([
        permitted(limitations, 'numbers of pods', () => count(options, { apiVersion: 'v1', kind: 'Pod' }, signal)),
        permitted(limitations, 'numbers of services', () =>
          count(options, { apiVersion: 'v1', kind: 'Service' }, signal),
        ),
      ]);
      const sees = pods !== null && services !== null && namespaces.length > 0;
      const isHealthy = nodes === null ? sees : nodes.nodes > 0 && nodes.readyNodes === nodes.nodes;
      return {
        nodes: nodes?.nodes ?? 0,
        pods: pods ?? 0,
        services: services ?? 0,
        health: isHealthy ? 'healthy' : 'degraded',
        kubernetes_version: kubernetesVersion(),
      };
    },
  };
}

interface HeartbeatNumbers {
  usage: UsageOf | null;
  /** Running pods; null if the agent may not list them. */
  pods: number | null;
}

/** Whole cluster: usage of its nodes relative to their allocatable resources. */
async function wholeNumbers(
  options: ClusterNumbersOptions,
  nodes: NodeCounts | null,
  signal: AbortSignal,
): Promise<HeartbeatNumbers> {
  const { client, limitations } = options;
  limitations.clear('usage of pods');
  const used =
    nodes === null
      ? null
      : ((await usageFromMetrics(client, signal)) ?? (await usageFromKubelets(client, nodes.names, signal)));
  if (used !== null || nodes === null) limitations.clear('usage of nodes');
  else limitations.set('usage of nodes', 'available from neither metrics.k8s.io nor the kubelet summaries');
  const pods = await permitted(limitations, 'numbers of pods', () => countRunningPods(options, signal));
  return { usage: used === null || nodes === null ? null : { used, available: nodes.allocatable }, pods };
}

/** An agent limited to namespaces: the nodes are outside its scope. */
async function scopedNumbers(options: ClusterNumbersOptions, signal: AbortSignal): Promise<HeartbeatNumbers> {
  const { client, limitations, namespaces } = options;
  limitations.clear('usage of nodes');
  const numbers = await permitted(limitations, 'numbers of pods', () => usageOfNamespaces(client, namespaces, signal));
  if (numbers === null) return { usage: null, pods: null };
  const { usage, runningPods } = numbers;
  if (usage !== null) limitations.clear('usage of pods');
  else limitations.set('usage of pods', 'metrics.k8s.io does not cover every namespace');
  return { usage, pods: runningPods };
}

/** Null if the API server denies access, which is then reported as a limitation. */
async function permitted<Value>(
  limitations: Limitations,
  feature: string,
  read: () => Promise<Value>,
  part?: LimitedPart,
): Promise<Value | null> {
  try {
    const value = await read();
    limitations.clear(feature);
    return value;
  } catch (error) {
    if (!isStatusError(error, 403)) throw error;
    limitations.set(feature, error.message, part);
    return null;
  }
}

async function countNodes(client: KubeClient, signal: AbortSignal): Promise<NodeCounts> {
  const counts: NodeCounts = { nodes: 0, readyNodes: 0, names: [], allocatable: { cpu: 0, memory: 0 } };
  for await (const page of client.list({ apiVersion: 'v1', kind: 'Node' }, { signal, pageSize: 100 })) {
    for (const node of page.items) {
      counts.nodes += 1;
      if (hasCondition(node, 'Ready')) counts.readyNodes += 1;
      if (counts.names.length < MAX_ASKED_NODES) counts.names.push(node.metadata.name);
      counts.allocatable.cpu += parseQuantity(fieldAt(node, 'status', 'allocatable', 'cpu')) ?? 0;
      counts.allocatable.memory += parseQuantity(fieldAt(node, 'status', 'allocatable', 'memory')) ?? 0;
    }
  }
  return counts;
}

/** metrics.k8s.io; null if it is not served or not readable. */
async function usageFromMetrics(client: KubeClient, signal: AbortSignal): Promise<Usage | null> {
  try {
    const usage: Usage = { cpu: 0, memory: 0 };
    let seen = 0;
    for await (const page of client.list({ apiVersion: 'metrics.k8s.io/v1beta1', kind: 'NodeMetrics' }, { signal })) {
      for (const node of page.items) {
        seen += 1;
        usage.cpu += parseQuantity(fieldAt(node, 'usage', 'cpu')) ?? 0;
        usage.memory += parseQuantity(fieldAt(node, 'usage', 'memory')) ?? 0;
      }
    }
    return seen === 0 ? null : usage;
  } catch {
    signal.throwIfAborted();
    return null; // not installed, not ready or not permitted: query the kubelets instead
  }
}

async function countRunningPods({ client, namespaces }: ClusterNumbersOptions, signal: AbortSignal): Promise<number> {
  let running = 0;
  for (const place of placesOf(namespaces)) {
    const selection = { ...place, fieldSelector: 'status.phase=Running', metadataOnly: true, signal };
    for await (const page of client.list({ apiVersion: 'v1', kind: 'Pod' }, selection)) running += page.items.length;
  }
  return running;
}

/** Fetches one object and the server's remaining count, instead of listing all. */
async function count(
  { client, namespaces }: ClusterNumbersOptions,
  reference: KindReference,
  signal: AbortSignal,
): Promise<number> {
  const kind = await client.discovery.find(reference, signal);
  let total = 0;
  for (const { namespace } of placesOf(namespaces)) {
    const list = await client.raw(`${resourcePath(kind, namespace)}?limit=1`, signal);
    const items = list['items'];
    const rest = fieldAt(list, 'metadata', 'remainingItemCount');
    total += (Array.isArray(items) ? items.length : 0) + (typeof rest === 'number' ? rest : 0);
  }
  return total;
}

function placesOf(namespaces: readonly string[]): { namespace?: string }[] {
  return namespaces.length === 0 ? [{}] : namespaces.map((namespace) => ({ namespace }));
}

function fraction(used: number | undefined, available: number): number {
  if (used === undefined || available <= 0) return 0;
  return Math.round((used / available) * 10_000) / 10_000;
}
