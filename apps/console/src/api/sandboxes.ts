import {
  NotFoundError,
  type CoreClient,
  type FileEntry,
  type RemoteFiles,
  SandboxesClient,
  type SandboxInfo,
  type SandboxPage,
  type SandboxStatus,
  type Snapshot,
  type Template,
  type Volume,
  type Workspace,
  type WorkspaceScope,
} from '@svc/sdk';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useWorkspace } from '../session/use-session.ts';
import { scopeOf } from './queries.ts';
import { filesKey, sandboxesKey, sandboxKey, volumesKey } from './query-keys.ts';
import type { FileOwner, Sandbox } from './sandbox-types.ts';
import { useSvc } from './svc-context.ts';

/** The sandboxes of a workspace. */
export function createSandboxesClient(svc: CoreClient, scope: WorkspaceScope): SandboxesClient {
  return new SandboxesClient(svc.transport).in(scope);
}

/** Sandboxes of the current workspace. */
export function useSandboxes(): SandboxesClient {
  const svc = useSvc();
  const { workspaceUuid, teamUuid } = scopeOf(useWorkspace());
  return useMemo(() => createSandboxesClient(svc, { workspaceUuid, teamUuid }), [svc, workspaceUuid, teamUuid]);
}

const WHILE_MOVING_MS = 700;
const AT_REST_MS = 4_000;
const METRICS_EVERY_MS = 10_000;

/** Poll starting sandboxes often, to show the progress of their image. */
function everyMs(sandboxes: readonly SandboxInfo[]): number {
  return sandboxes.some(({ status }) => status === 'creating') ? WHILE_MOVING_MS : AT_REST_MS;
}

export interface SandboxFilter {
  status: SandboxStatus | undefined;
  /** `key=value`. */
  label: string | undefined;
}

const PAGE_OF_SANDBOXES = 100;

export function sandboxListQuery(api: SandboxesClient, workspace: Workspace, { status, label }: SandboxFilter) {
  const [key, ...rest] = label?.split('=') ?? [];
  const labels = key === undefined ? {} : { [key]: rest.join('=') };
  return infiniteQueryOptions({
    queryKey: [...sandboxesKey(workspace), 'list', status, label],
    queryFn: ({ signal, pageParam }) =>
      api.page({ status, labels, cursor: pageParam, pageSize: PAGE_OF_SANDBOXES }, { signal }),
    initialPageParam: undefined as string | undefined, // the first page has no cursor
    getNextPageParam: (page: SandboxPage) => page.nextCursor ?? undefined,
    maxPages: 20,
    refetchInterval: ({ state }) => everyMs((state.data?.pages ?? []).flatMap(({ items }) => items)),
  });
}

export function sandboxQuery(api: SandboxesClient, workspace: Workspace, id: string) {
  return queryOptions({
    queryKey: sandboxKey(workspace, id),
    queryFn: ({ signal }): Promise<Sandbox> => api.of(id).get({ signal }),
    // Stop polling once it is deleted.
    refetchInterval: ({ state }) =>
      state.error instanceof NotFoundError ? false : everyMs(state.data === undefined ? [] : [state.data]),
  });
}

/** Connected clusters that run sandboxes. Their absence must not hide the rest. */
export function sandboxClustersQuery(api: SandboxesClient, workspace: Workspace) {
  return queryOptions({
    queryKey: [...sandboxesKey(workspace), 'clusters'],
    queryFn: async ({ signal }) => (await api.clusters({ signal })).filter(({ connected }) => connected),
  });
}

/** The whole catalog, with the progress of images being downloaded. */
export function imagesQuery(api: SandboxesClient, workspace: Workspace) {
  return queryOptions({
    queryKey: [...sandboxesKey(workspace), 'images'],
    queryFn: ({ signal }) => api.images({ all: true, signal }),
    staleTime: 10_000,
    refetchInterval: ({ state }) => state.data?.some(({ progress }) => progress !== null) === true && WHILE_MOVING_MS,
  });
}

export function terminalsQuery(api: SandboxesClient, workspace: Workspace, id: string) {
  return queryOptions({
    queryKey: [...sandboxKey(workspace, id), 'terminals'],
    queryFn: ({ signal }) => api.of(id).terminals({ signal }),
    refetchInterval: AT_REST_MS,
  });
}

/** The files of a sandbox or volume. */
export function filesOf(api: SandboxesClient, { kind, id }: FileOwner): RemoteFiles {
  return kind === 'volume' ? api.volumes.files(id) : api.of(id).files;
}

/** More than is useful in a browser. */
const MOST_FILES = 5_000;
const MOST_POLLED_FILES = 500;

export interface Folder {
  entries: FileEntry[];
  /** There are more files than shown. */
  cut: boolean;
}

/**
 * Polls small folders of volumes, which sandboxes change without the user. Not those of sandboxes: reading files counts as
 * use of a sandbox, so it would never be idle.
 */
export function folderQuery(api: SandboxesClient, workspace: Workspace, owner: FileOwner, path: string) {
  return queryOptions({
    queryKey: [...filesKey(workspace, owner), path],
    queryFn: async ({ signal }): Promise<Folder> => {
      const entries: FileEntry[] = [];
      for await (const entry of filesOf(api, owner).list(path, { signal })) {
        if (entries.length === MOST_FILES) return { entries, cut: true };
        entries.push(entry);
      }
      return { entries, cut: false };
    },
    refetchInterval: ({ state }) =>
      owner.kind === 'volume' && (state.data?.entries.length ?? MOST_FILES) <= MOST_POLLED_FILES && AT_REST_MS,
  });
}

/** `span` identifies the query, since its start time keeps moving. */
export function metricsQuery(api: SandboxesClient, workspace: Workspace, id: string, span: string, since: () => Date) {
  return queryOptions({
    queryKey: [...sandboxKey(workspace, id), 'metrics', span],
    queryFn: ({ signal }) => api.of(id).metrics({ since: since(), signal }),
    refetchInterval: METRICS_EVERY_MS,
  });
}

export function eventsQuery(api: SandboxesClient, workspace: Workspace, id: string) {
  return infiniteQueryOptions({
    queryKey: [...sandboxKey(workspace, id), 'events'],
    queryFn: ({ signal, pageParam }) => api.of(id).eventPage({ cursor: pageParam }, { signal }),
    initialPageParam: undefined as string | undefined, // the first page has no cursor
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    maxPages: 40,
  });
}

/** Snapshots are few, since each keeps files on the platform's disk. */
const MOST_SNAPSHOTS = 1_000;

export function snapshotsQuery(api: SandboxesClient, workspace: Workspace) {
  return queryOptions({
    queryKey: [...sandboxesKey(workspace), 'snapshots'],
    queryFn: async ({ signal }) => {
      const snapshots: Snapshot[] = [];
      for await (const snapshot of api.snapshots.list({}, { signal })) {
        snapshots.push(snapshot);
        if (snapshots.length === MOST_SNAPSHOTS) break;
      }
      return snapshots;
    },
  });
}

/** The quota of a workspace is lower, unless the operator raised it. */
const MOST_VOLUMES = 1_000;

export function volumesQuery(api: SandboxesClient, workspace: Workspace) {
  return queryOptions({
    queryKey: volumesKey(workspace),
    queryFn: async ({ signal }) => {
      const volumes: Volume[] = [];
      for await (const volume of api.volumes.list({}, { signal })) {
        volumes.push(volume);
        if (volumes.length === MOST_VOLUMES) break;
      }
      return volumes;
    },
  });
}

export function volumeQuery(api: SandboxesClient, workspace: Workspace, name: string) {
  return queryOptions({
    queryKey: [...volumesKey(workspace), name],
    queryFn: ({ signal }) => api.volumes.get(name, { signal }),
  });
}

/** Names only: no request returns a value. */
export function secretsQuery(api: SandboxesClient, workspace: Workspace) {
  return queryOptions({
    queryKey: [...sandboxesKey(workspace), 'secrets'],
    queryFn: ({ signal }) => api.secrets.list({ signal }),
  });
}

/** Polls, since deliveries fail and succeed without the user. */
export function webhooksQuery(api: SandboxesClient, workspace: Workspace) {
  return queryOptions({
    queryKey: [...sandboxesKey(workspace), 'webhooks'],
    queryFn: ({ signal }) => api.webhooks.list({ signal }),
    refetchInterval: AT_REST_MS,
  });
}

export function deliveriesQuery(api: SandboxesClient, workspace: Workspace, id: string) {
  return infiniteQueryOptions({
    queryKey: [...webhooksQuery(api, workspace).queryKey, id, 'deliveries'],
    queryFn: ({ signal, pageParam }) => api.webhooks.deliveries(id, { cursor: pageParam }, { signal }),
    initialPageParam: undefined as string | undefined, // the first page has no cursor
    getNextPageParam: (page) => page.nextCursor ?? undefined,
    maxPages: 20,
    refetchInterval: AT_REST_MS,
  });
}

/** Polls while a build is under way. */
export function templatesQuery(api: SandboxesClient, workspace: Workspace) {
  return queryOptions({
    queryKey: [...sandboxesKey(workspace), 'templates'],
    queryFn: async ({ signal }) => {
      const templates: Template[] = [];
      for await (const template of api.templates.list({}, { signal })) templates.push(template);
      return templates;
    },
    refetchInterval: ({ state }) => (state.data?.some(isBuilding) === true ? WHILE_MOVING_MS : AT_REST_MS),
  });
}

export function templateQuery(api: SandboxesClient, workspace: Workspace, name: string) {
  return queryOptions({
    queryKey: [...sandboxesKey(workspace), 'templates', name],
    queryFn: ({ signal }) => api.templates.get(name, { signal }),
    refetchInterval: ({ state }) => (state.data !== undefined && isBuilding(state.data) ? WHILE_MOVING_MS : AT_REST_MS),
  });
}

function isBuilding({ builds }: Template): boolean {
  return builds.some(({ status }) => status === 'building');
}

export function publicPortsQuery(api: SandboxesClient, workspace: Workspace, id: string) {
  return queryOptions({
    queryKey: [...sandboxKey(workspace, id), 'ports', 'public'],
    queryFn: ({ signal }) => api.of(id).publicPorts({ signal }),
  });
}

export function openPortsQuery(api: SandboxesClient, workspace: Workspace, id: string) {
  return queryOptions({
    queryKey: [...sandboxKey(workspace, id), 'ports'],
    queryFn: ({ signal }) => api.of(id).ports({ signal }),
  });
}
