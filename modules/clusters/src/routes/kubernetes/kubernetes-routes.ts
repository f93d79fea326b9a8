import { grantOf, principalOf, type HttpApp } from '@svc/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { findCluster, type RouteContext } from '../context.ts';
import { streamSignal } from '../event-stream.ts';
import { ownedByHolder, TUNNEL } from '../owned.ts';
import { clusterParams, nextCursor, scopeQuery } from '../parameters.ts';
import type { KubernetesApi, KubernetesCaller } from '../../adapters/kubernetes/kubernetes-api.ts';
import { nodeSchema, toNodeView } from '../../domain/kubernetes/node-view.ts';
import { readObjectPage, type ObjectPage, type ObjectSource } from '../../adapters/kubernetes/object-pages.ts';
import { podSchema, toPodView } from '../../domain/kubernetes/pod-view.ts';
import { usageByName, type UsageByName } from '../../domain/kubernetes/usage.ts';
import {
  toWorkloadView,
  WORKLOAD_PATHS,
  workloadKindSchema,
  workloadSchema,
  type WorkloadKind,
} from '../../domain/kubernetes/workload-view.ts';

export interface KubernetesRouteOptions {
  context: RouteContext;
  api: KubernetesApi;
}

const tags = ['kubernetes'];
const objectName = Type.String({ maxLength: 253, pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$' });
const listQuery = {
  ...scopeQuery,
  name: Type.Optional(
    Type.String({ maxLength: 253, pattern: '^[a-z0-9.-]+$', description: 'Matches any part of the name' }),
  ),
  page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 100 })),
  cursor: Type.Optional(Type.String({ maxLength: 4096 })),
};
const namespaceQuery = {
  namespace: Type.Optional(Type.String({ maxLength: 63, pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$' })),
};
/** Each call makes at least one request to a user's API server. A page that refreshes itself stays well below this. */
const READ_RATE = { perMinute: 600, burst: 120, by: 'principal' } as const;
const METRICS = '/apis/metrics.k8s.io/v1beta1';
const METRICS_LIMITS = { timeoutMs: 5000, maxSizeBytes: 8 * 1024 * 1024 } as const;
const DEFAULT_PAGE_SIZE = 100;

/** Lists the objects of a cluster, read live from its API server; nothing is stored. */
export function registerKubernetesRoutes(app: HttpApp, options: KubernetesRouteOptions): void {
  addNodeRoute(app, options);
  addWorkloadRoute(app, options);
  addPodRoute(app, options);
}

function addNodeRoute(app: HttpApp, options: KubernetesRouteOptions): void {
  app.get(
    '/v1/clusters/:cluster/nodes',
    {
      config: { action: 'cluster:read', rateLimit: READ_RATE, owned: ownedByHolder(TUNNEL) },
      schema: {
        tags,
        summary: 'List the nodes of a cluster',
        params: clusterParams,
        querystring: Type.Object(listQuery),
        response: { 200: Type.Object({ nodes: Type.Array(nodeSchema), next_cursor: nextCursor }) },
      },
    },
    async (request, reply) => {
      const asked = await readAsked(options, request, reply);
      const usages = await readUsage(asked, `${METRICS}/nodes`);
      const source = { path: '/api/v1/nodes', view: (node: object) => toNodeView(node, usages) };
      const { items, nextCursor: cursor } = await readPage(asked, request.query, [source]);
      return { nodes: items, next_cursor: cursor };
    },
  );
}

function addWorkloadRoute(app: HttpApp, options: KubernetesRouteOptions): void {
  app.get(
    '/v1/clusters/:cluster/workloads',
    {
      config: { action: 'cluster:read', rateLimit: READ_RATE, owned: ownedByHolder(TUNNEL) },
      schema: {
        tags,
        summary: 'List the Deployments, StatefulSets, DaemonSets, CronJobs and Jobs of a cluster, grouped by kind',
        params: clusterParams,
        querystring: Type.Object({ ...listQuery, ...namespaceQuery, kind: Type.Optional(workloadKindSchema) }),
        response: { 200: Type.Object({ workloads: Type.Array(workloadSchema), next_cursor: nextCursor }) },
      },
    },
    async (request, reply) => {
      const asked = await readAsked(options, request, reply);
      const { namespace, kind } = request.query;
      const kinds = kind === undefined ? (Object.keys(WORKLOAD_PATHS) as WorkloadKind[]) : [kind]; // own keys only
      const sources = kinds.map((each) => {
        const { group, plural } = WORKLOAD_PATHS[each];
        return {
          path: pathOf(group, plural, namespace),
          view: (object: Record<string, unknown>) => toWorkloadView(each, object),
        };
      });
      const { items, nextCursor: cursor } = await readPage(asked, request.query, sources);
      return { workloads: items, next_cursor: cursor };
    },
  );
}

function addPodRoute(app: HttpApp, options: KubernetesRouteOptions): void {
  app.get(
    '/v1/clusters/:cluster/pods',
    {
      config: { action: 'cluster:read', rateLimit: READ_RATE, owned: ownedByHolder(TUNNEL) },
      schema: {
        tags,
        summary: 'List the pods of a cluster',
        params: clusterParams,
        querystring: Type.Object({
          ...listQuery,
          ...namespaceQuery,
          node: Type.Optional(objectName),
          label_selector: Type.Optional(
            Type.String({
              maxLength: 1024,
              description: 'Kubernetes label selector, such as `app=web,tier in (a,b)`',
            }),
          ),
        }),
        response: { 200: Type.Object({ pods: Type.Array(podSchema), next_cursor: nextCursor }) },
      },
    },
    async (request, reply) => {
      const asked = await readAsked(options, request, reply);
      const { namespace, node, label_selector: labelSelector } = request.query;
      const fieldSelector = node === undefined ? undefined : `spec.nodeName=${node}`;
      const usages = await readUsage(asked, pathOf(METRICS, 'pods', namespace), { labelSelector });
      const source = { path: pathOf('/api/v1', 'pods', namespace), view: (pod: object) => toPodView(pod, usages) };
      const filter = { labelSelector, fieldSelector };
      const { items, nextCursor: cursor } = await readPage(asked, request.query, [source], filter);
      return { pods: items, next_cursor: cursor };
    },
  );
}

interface Asked {
  api: KubernetesApi;
  caller: KubernetesCaller;
  signal: AbortSignal;
}

async function readAsked(
  { context, api }: KubernetesRouteOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Asked> {
  const cluster = await findCluster(context, request);
  const caller = { cluster, principalId: principalOf(request).id, role: grantOf(request).role };
  reply.header('cache-control', 'no-store');
  return { api, caller, signal: streamSignal(reply, context.stopping) };
}

type Filter = Readonly<Record<string, string | undefined>>;

function readPage<Item>(
  { api, caller, signal }: Asked,
  query: { name?: string; page_size?: number; cursor?: string },
  sources: readonly ObjectSource<Item>[],
  filter: Filter = {},
): Promise<ObjectPage<Item>> {
  return readObjectPage({
    sources,
    read: (path, page) => api.get(caller, { path, query: { ...filter, ...page }, signal }),
    name: query.name,
    pageSize: query.page_size ?? DEFAULT_PAGE_SIZE,
    cursor: query.cursor,
  });
}

/** Usage is optional: a cluster may have no metrics server, and the agent's policy may deny access to it. */
async function readUsage({ api, caller, signal }: Asked, path: string, filter: Filter = {}): Promise<UsageByName> {
  await api.findTunnel(caller); // throws here if the agent is offline, which the catch below must not hide
  try {
    return usageByName(await api.get(caller, { path, query: filter, signal, ...METRICS_LIMITS }));
  } catch {
    return new Map();
  }
}

function pathOf(group: string, plural: string, namespace: string | undefined): string {
  return namespace === undefined ? `${group}/${plural}` : `${group}/namespaces/${namespace}/${plural}`;
}
