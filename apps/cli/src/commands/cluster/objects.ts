import type { Cluster, ClusterNode, Pod, Workload } from '@svc/sdk';
import type { Command } from 'commander';
import type { ConnectionFlags } from '../../client/connection.ts';
import { addConnectionOptions } from '../../client/session.ts';
import { renderAge, renderCores, renderMebibytes } from './render.ts';
import { withClusters, type ClusterSession } from './with-clusters.ts';

interface ObjectFlags extends ConnectionFlags {
  namespace?: string;
  name?: string;
}

interface Listing<Item> {
  command: 'nodes' | 'workloads' | 'pods';
  description: string;
  columns: readonly string[];
  row: (item: Item, nowMs: number) => string[];
  page: (
    cluster: Cluster,
    query: { namespace?: string | undefined; name?: string | undefined; cursor?: string | undefined; pageSize: number },
    signal: AbortSignal,
  ) => Promise<{ items: Item[]; nextCursor: string | null }>;
}

const NODES: Listing<ClusterNode> = {
  command: 'nodes',
  description: 'List the nodes of a cluster',
  columns: ['NAME', 'STATE', 'ROLES', 'VERSION', 'CPU', 'MEMORY', 'AGE'],
  row: (node, nowMs) => [
    node.name,
    node.schedulable ? node.state : `${node.state}, cordoned`,
    node.roles.join(',') || '-',
    node.kubelet_version ?? '-',
    renderCores(node.cpu_usage_cores),
    renderMebibytes(node.memory_usage_bytes),
    renderAge(node.created_at, nowMs),
  ],
  page: (cluster, { namespace: _none, ...query }, signal) => cluster.nodes(query, { signal }),
};

const WORKLOADS: Listing<Workload> = {
  command: 'workloads',
  description: 'List Deployments, StatefulSets, DaemonSets, CronJobs, and Jobs',
  columns: ['KIND', 'NAMESPACE', 'NAME', 'STATE', 'READY', 'IMAGES', 'AGE'],
  row: ({ kind, namespace, name, state, ready, desired, images, created_at: createdAt }, nowMs) => [
    kind,
    namespace,
    name,
    state,
    `${ready}/${desired}`,
    images.join(','),
    renderAge(createdAt, nowMs),
  ],
  page: (cluster, query, signal) => cluster.workloads(query, { signal }),
};

const PODS: Listing<Pod> = {
  command: 'pods',
  description: 'List the pods of a cluster',
  columns: ['NAMESPACE', 'NAME', 'READY', 'STATE', 'RESTARTS', 'CPU', 'MEMORY', 'NODE', 'AGE'],
  row: (pod, nowMs) => [
    pod.namespace,
    pod.name,
    `${pod.ready_containers}/${pod.total_containers}`,
    pod.state,
    String(pod.restarts),
    renderCores(pod.cpu_usage_cores),
    renderMebibytes(pod.memory_usage_bytes),
    pod.node ?? '-',
    renderAge(pod.created_at, nowMs),
  ],
  page: (cluster, query, signal) => cluster.pods(query, { signal }),
};

const PAGE_SIZE = 200;
/** A longer table is of no use; --json and the SDK have no limit. */
const MAX_ROWS = 5000;

/** `svc cluster nodes`, `workloads` and `pods`. */
export function registerClusterObjects(parent: Command): void {
  register(parent, NODES);
  register(parent, WORKLOADS);
  register(parent, PODS);
}

function register<Item>(parent: Command, listing: Listing<Item>): void {
  const command = addConnectionOptions(parent.command(listing.command))
    .description(`${listing.description} (requires the tunnel of its agent)`)
    .argument('<cluster>', 'Cluster name or ID')
    .option('--name <text>', 'Filter by name (substring)');
  if (listing.command !== 'nodes') command.option('-n, --namespace <name>', 'Filter by namespace');
  command.action((name: string, flags: ObjectFlags) =>
    withClusters(flags, (session) => show(session, session.clusters.of(name), listing, flags)),
  );
}

async function show<Item>(
  { output, signal }: ClusterSession,
  cluster: Cluster,
  { page, columns, row }: Listing<Item>,
  { namespace, name }: ObjectFlags,
): Promise<void> {
  const found: Item[] = [];
  let cursor: string | undefined;
  do {
    const { items, nextCursor } = await page(cluster, { namespace, name, cursor, pageSize: PAGE_SIZE }, signal);
    found.push(...items);
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined && found.length < MAX_ROWS);
  if (cursor !== undefined) output.warn(`showing the first ${found.length} only; filter with --namespace or --name`);
  const nowMs = Date.now();
  output.answerTable(
    found,
    columns,
    found.map((item) => row(item, nowMs)),
  );
}
