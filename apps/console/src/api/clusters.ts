import {
  NotFoundError,
  type CallOptions,
  type ClusterInfo,
  type CoreClient,
  ClustersClient,
  type ClusterStatus,
  type Deployment,
  type Page,
  type PageQuery,
  type Pod,
  type WorkloadKind,
  type Workspace,
  type WorkspaceScope,
} from '@svc/sdk';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useWorkspace } from '../session/use-session.ts';
import { allPages } from './all-pages.ts';
import { scopeOf } from './queries.ts';
import { useSvc } from './svc-context.ts';

/** The clusters of a workspace. */
export function createClustersClient(svc: CoreClient, scope: WorkspaceScope): ClustersClient {
  return new ClustersClient(svc.transport).in(scope);
}

/** Clusters of the current workspace. */
export function useClusters(): ClustersClient {
  const svc = useSvc();
  const { workspaceUuid, teamUuid } = scopeOf(useWorkspace());
  return useMemo(() => createClustersClient(svc, { workspaceUuid, teamUuid }), [svc, workspaceUuid, teamUuid]);
}

/** Prefix of the query keys about a workspace's clusters. */
export function clustersKey(workspace: Pick<Workspace, 'uuid'>) {
  return ['clusters', workspace.uuid] as const;
}

/** Prefix of the query keys about one cluster. */
export function clusterKey(workspace: Pick<Workspace, 'uuid'>, id: string) {
  return [...clustersKey(workspace), 'one', id] as const;
}

const CLUSTERS_EVERY_MS = 3_000;
const HISTORY_EVERY_MS = 15_000;
const WHILE_DEPLOYING_MS = 1_500;
const DEPLOYMENTS_EVERY_MS = 5_000;

export function clustersQuery(api: ClustersClient, workspace: Workspace) {
  return queryOptions({
    queryKey: [...clustersKey(workspace), 'list'],
    queryFn: ({ signal }) => allPages((cursor) => api.page({ cursor, pageSize: 200 }, { signal })),
    refetchInterval: CLUSTERS_EVERY_MS,
  });
}

export function clusterQuery(api: ClustersClient, workspace: Workspace, id: string) {
  return queryOptions({
    queryKey: clusterKey(workspace, id),
    queryFn: ({ signal }): Promise<ClusterInfo> => api.of(id).get({ signal }),
    // Stop polling once it is deleted.
    refetchInterval: ({ state }) => (state.error instanceof NotFoundError ? false : CLUSTERS_EVERY_MS),
  });
}

/** Fractions 0..1. If `samples` is above 1, the point is a ten-minute average. */
export type HeartbeatPoint = ClusterStatus['heartbeats'][number];

/** More than a heartbeat every half minute for six hours plus a ten-minute average for a week. */
const MOST_HEARTBEATS = 2_000;

/** `span` identifies the query, since its start time keeps moving. */
export function heartbeatsQuery(
  api: ClustersClient,
  workspace: Workspace,
  id: string,
  span: string,
  since: () => Date,
) {
  return queryOptions({
    queryKey: [...clusterKey(workspace, id), 'heartbeats', span],
    queryFn: async ({ signal }) =>
      (await api.of(id).status({ since: since().toISOString(), limit: MOST_HEARTBEATS }, { signal })).heartbeats,
    refetchInterval: HISTORY_EVERY_MS,
  });
}

const FINISHED: ReadonlySet<string> = new Set(['succeeded', 'failed', 'timed_out', 'cancelled', 'superseded', 'lost']);

/** Whether the deployment is in a final state. */
export function isFinished({ status }: Pick<Deployment, 'status'>): boolean {
  return FINISHED.has(status);
}

export function deploymentsKey(workspace: Pick<Workspace, 'uuid'>, id: string) {
  return [...clusterKey(workspace, id), 'deployments'] as const;
}

const PAGE_OF_DEPLOYMENTS = 50;

export function deploymentsQuery(api: ClustersClient, workspace: Workspace, id: string, projectId: string | undefined) {
  return infiniteQueryOptions({
    queryKey: [...deploymentsKey(workspace, id), projectId],
    queryFn: ({ signal, pageParam }) =>
      api
        .of(id)
        .deployments(
          { ...(projectId !== undefined && { projectId }), cursor: pageParam, pageSize: PAGE_OF_DEPLOYMENTS },
          { signal },
        ),
    initialPageParam: undefined as string | undefined, // the first page has no cursor
    getNextPageParam: (page: Page<Deployment>) => page.nextCursor ?? undefined,
    maxPages: 10,
    refetchInterval: ({ state }) =>
      (state.data?.pages ?? []).some(({ items }) => items.some((each) => !isFinished(each)))
        ? WHILE_DEPLOYING_MS
        : DEPLOYMENTS_EVERY_MS,
  });
}

/** The deployment's current state. While it runs, updates arrive separately. */
export function deploymentQuery(
  api: ClustersClient,
  workspace: Pick<Workspace, 'uuid'>,
  id: string,
  deployment: string,
) {
  return queryOptions({
    queryKey: [...clusterKey(workspace, id), 'deployment', deployment],
    queryFn: ({ signal }) => api.of(id).deployment(deployment, { signal }),
    refetchInterval: ({ state }) => state.data !== undefined && !isFinished(state.data) && DEPLOYMENTS_EVERY_MS,
  });
}

export function clusterEventsKey(workspace: Pick<Workspace, 'uuid'>, id: string) {
  return [...clusterKey(workspace, id), 'events'] as const;
}

export interface EventFilter {
  eventType?: string;
  namespace?: string;
}

const PAGE_OF_EVENTS = 100;

/** Newest first; live events are prepended. */
export function clusterEventsQuery(api: ClustersClient, workspace: Workspace, id: string, filter: EventFilter) {
  return infiniteQueryOptions({
    queryKey: [...clusterEventsKey(workspace, id), filter],
    queryFn: ({ signal, pageParam }) =>
      api.of(id).events({ ...filter, cursor: pageParam, pageSize: PAGE_OF_EVENTS }, { signal }),
    initialPageParam: undefined as string | undefined, // the first page has no cursor
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    maxPages: 40,
  });
}

export interface ObjectFilter {
  namespace?: string;
  /** Part of the name. */
  name?: string;
}

const OBJECTS_EVERY_MS = 5_000;
const PAGE_OF_OBJECTS = 100;
/** All of them are refetched while shown. */
export const MOST_PAGES_OF_OBJECTS = 20;

/** Common query of the object lists: pages read from the cluster while its agent is connected. */
function objectPages<Item>(
  queryKey: readonly unknown[],
  isConnected: boolean,
  load: (page: PageQuery, options: CallOptions) => Promise<Page<Item>>,
) {
  return infiniteQueryOptions({
    queryKey,
    queryFn: ({ signal, pageParam }) => load({ cursor: pageParam, pageSize: PAGE_OF_OBJECTS }, { signal }),
    initialPageParam: undefined as string | undefined, // the first page has no cursor
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    maxPages: MOST_PAGES_OF_OBJECTS,
    refetchInterval: isConnected && OBJECTS_EVERY_MS,
  });
}

type ShownCluster = Pick<ClusterInfo, 'id' | 'connected'>;

export function nodesQuery(api: ClustersClient, workspace: Workspace, { id, connected }: ShownCluster, name?: string) {
  const key = [...clusterKey(workspace, id), 'nodes', name];
  return objectPages(key, connected, (page, options) => api.of(id).nodes({ name, ...page }, options));
}

export function workloadsQuery(
  api: ClustersClient,
  workspace: Workspace,
  { id, connected }: ShownCluster,
  filter: ObjectFilter & { kind?: WorkloadKind },
) {
  const key = [...clusterKey(workspace, id), 'workloads', filter];
  return objectPages(key, connected, (page, options) => api.of(id).workloads({ ...filter, ...page }, options));
}

export function podsQuery(
  api: ClustersClient,
  workspace: Workspace,
  { id, connected }: ShownCluster,
  filter: ObjectFilter & { labelSelector?: string; node?: string },
) {
  const key = [...clusterKey(workspace, id), 'pods', filter];
  return objectPages(key, connected, (page, options) => api.of(id).pods({ ...filter, ...page }, options));
}

/** Finds a pod by name; null if there is none. */
export function podQuery(
  api: ClustersClient,
  workspace: Workspace,
  { id, connected }: ShownCluster,
  { namespace, pod }: { namespace: string; pod: string },
) {
  return queryOptions({
    queryKey: [...clusterKey(workspace, id), 'pods', 'one', namespace, pod],
    queryFn: async ({ signal }): Promise<Pod | null> => {
      let cursor: string | undefined;
      // The name filter matches substrings, so the pod may be on a later page.
      do {
        const page = await api.of(id).pods({ namespace, name: pod, cursor, pageSize: 200 }, { signal });
        const found = page.items.find(({ name }) => name === pod);
        if (found !== undefined) return found;
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined);
      return null;
    },
    refetchInterval: connected && OBJECTS_EVERY_MS,
  });
}
