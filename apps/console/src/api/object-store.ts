import {
  type BucketUrls,
  type ObjectsClient,
  ObjectStoreClient,
  type CoreClient,
  type UsageResolution,
  type Workspace,
  xhrSender,
} from '@svc/sdk';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { useWorkspace } from '../session/use-session.ts';
import { scopeOf } from './queries.ts';
import { bucketKey, storeKey } from './query-keys.ts';
import { useSvc } from './svc-context.ts';

/** The object store of the current workspace. */
export function useStore(): ObjectStoreClient {
  const svc = useSvc();
  return createStoreClient(svc, useWorkspace());
}

export function createStoreClient(svc: CoreClient, workspace: Workspace): ObjectStoreClient {
  return new ObjectStoreClient(svc.transport, scopeOf(workspace));
}

/** Uses XMLHttpRequest, which alone reports upload progress. */
export function uploadsTo(store: ObjectStoreClient, bucket: string): ObjectsClient {
  return store.objects(
    bucket,
    xhrSender(() => new XMLHttpRequest()),
  );
}

export function storeQuery(svc: CoreClient, workspace: Workspace) {
  return queryOptions({
    queryKey: [...storeKey(workspace), 'status'],
    queryFn: ({ signal }) => createStoreClient(svc, workspace).status({ signal }),
  });
}

export function bucketsQuery(svc: CoreClient, workspace: Workspace) {
  return queryOptions({
    queryKey: [...storeKey(workspace), 'buckets'],
    queryFn: ({ signal }) => createStoreClient(svc, workspace).buckets.list({ signal }),
  });
}

export function deletedBucketsQuery(svc: CoreClient, workspace: Workspace) {
  return queryOptions({
    queryKey: [...storeKey(workspace), 'deleted'],
    queryFn: ({ signal }) => createStoreClient(svc, workspace).buckets.deleted({ signal }),
  });
}

export function keysQuery(svc: CoreClient, workspace: Workspace) {
  return queryOptions({
    queryKey: [...storeKey(workspace), 'keys'],
    queryFn: ({ signal }) => createStoreClient(svc, workspace).keys.list({ signal }),
  });
}

const DOMAINS_EVERY_MS = 5_000;

/** Polled while shown, since DNS changes silently. */
export function domainsQuery(svc: CoreClient, workspace: Workspace, bucket: string) {
  return queryOptions({
    queryKey: [...bucketKey(workspace, bucket), 'domains'],
    queryFn: ({ signal }) => createStoreClient(svc, workspace).domains.list(bucket, { signal }),
    refetchInterval: DOMAINS_EVERY_MS,
  });
}

export function settingsQuery(svc: CoreClient, workspace: Workspace, bucket: string) {
  return queryOptions({
    queryKey: [...bucketKey(workspace, bucket), 'settings'],
    queryFn: ({ signal }) => createStoreClient(svc, workspace).buckets.settings(bucket, { signal }),
  });
}

export function encryptionQuery(svc: CoreClient, workspace: Workspace, bucket: string) {
  return queryOptions({
    queryKey: [...bucketKey(workspace, bucket), 'encryption'],
    queryFn: ({ signal }) => createStoreClient(svc, workspace).buckets.encryption(bucket, { signal }),
  });
}

export function versioningQuery(svc: CoreClient, workspace: Workspace, bucket: string) {
  return queryOptions({
    queryKey: [...bucketKey(workspace, bucket), 'versioning'],
    queryFn: ({ signal }) => createStoreClient(svc, workspace).buckets.versioning(bucket, { signal }),
  });
}

export function lifecycleQuery(svc: CoreClient, workspace: Workspace, bucket: string) {
  return queryOptions({
    queryKey: [...bucketKey(workspace, bucket), 'lifecycle'],
    queryFn: ({ signal }) => createStoreClient(svc, workspace).buckets.lifecycle(bucket, { signal }),
  });
}

const USAGE_EVERY_MS = 60_000;

export interface UsageQuestion {
  /** Defaults to all buckets together. */
  bucket?: string | undefined;
  /** Identifies the query, since its start time keeps moving. */
  span: string;
  resolution: UsageResolution;
  from: () => Date;
}

/** Polled every minute while shown, as often as usage is recorded. */
export function usageQuery(svc: CoreClient, workspace: Workspace, { bucket, span, resolution, from }: UsageQuestion) {
  const start = bucket === undefined ? storeKey(workspace) : bucketKey(workspace, bucket);
  return queryOptions({
    queryKey: [...start, 'usage', span],
    queryFn: ({ signal }) => createStoreClient(svc, workspace).usage({ bucket, resolution, from: from() }, { signal }),
    refetchInterval: USAGE_EVERY_MS,
  });
}

export function urlsQuery(svc: CoreClient, workspace: Workspace, bucket: string) {
  return queryOptions({
    queryKey: [...bucketKey(workspace, bucket), 'urls'],
    queryFn: ({ signal }) => createStoreClient(svc, workspace).buckets.urls(bucket, { signal }),
  });
}

const PAGE_OF_OBJECTS = 200;

/** One level of a bucket, page by page. */
export function objectsQuery(svc: CoreClient, workspace: Workspace, bucket: string, prefix: string) {
  return infiniteQueryOptions({
    queryKey: [...bucketKey(workspace, bucket), 'objects', prefix],
    queryFn: ({ signal, pageParam }) =>
      createStoreClient(svc, workspace)
        .objects(bucket)
        .page({ prefix, delimiter: '/', limit: PAGE_OF_OBJECTS, cursor: pageParam }, { signal }),
    initialPageParam: undefined as string | undefined, // the first page has no cursor
    getNextPageParam: (page) => page.cursor ?? undefined,
    maxPages: 200,
  });
}

const PAGE_OF_VERSIONS = 1_000;

/** All versions at one level of a bucket, page by page, including those of deleted objects. */
export function deletedObjectsQuery(svc: CoreClient, workspace: Workspace, bucket: string, prefix: string) {
  return infiniteQueryOptions({
    queryKey: [...bucketKey(workspace, bucket), 'deleted', prefix],
    queryFn: ({ signal, pageParam }) =>
      createStoreClient(svc, workspace)
        .objects(bucket)
        .versionPage({ prefix, delimiter: '/', limit: PAGE_OF_VERSIONS, cursor: pageParam }, { signal }),
    initialPageParam: undefined as string | undefined, // the first page has no cursor
    getNextPageParam: (page) => page.cursor ?? undefined,
    maxPages: 200,
  });
}

/** Finds an object by key; null if there is none. */
export function objectQuery(svc: CoreClient, workspace: Workspace, bucket: string, key: string) {
  return queryOptions({
    queryKey: [...bucketKey(workspace, bucket), 'object', key],
    queryFn: async ({ signal }) => {
      // The first key with this prefix is the key itself, if it exists.
      const page = await createStoreClient(svc, workspace).objects(bucket).page({ prefix: key, limit: 1 }, { signal });
      return page.objects.find((object) => object.key === key) ?? null;
    },
  });
}

export function versionsQuery(svc: CoreClient, workspace: Workspace, bucket: string, key: string) {
  return queryOptions({
    queryKey: [...bucketKey(workspace, bucket), 'versions', key],
    queryFn: ({ signal }) =>
      createStoreClient(svc, workspace).objects(bucket).versionPage({ key, limit: 100 }, { signal }),
  });
}

/** The start of an object as text; invalid UTF-8 is shown as replacement characters. */
export function textPreviewQuery(
  svc: CoreClient,
  workspace: Workspace,
  bucket: string,
  object: { key: string; etag: string },
  mostBytes: number,
) {
  return queryOptions({
    queryKey: [...bucketKey(workspace, bucket), 'text', object.key, object.etag],
    queryFn: async ({ signal }) => {
      const range = { start: 0, end: mostBytes - 1 };
      const { body } = await createStoreClient(svc, workspace).objects(bucket).download(object.key, { range, signal });
      return await new Response(body).text();
    },
  });
}

/** Path for downloads with the browser's session, for links and images. */
export function downloadPath(
  workspace: Workspace,
  bucket: string,
  { key, versionId, inline = false }: { key: string; versionId?: string | null; inline?: boolean },
): string {
  const { workspaceUuid, teamUuid } = scopeOf(workspace);
  const query = new URLSearchParams({ key });
  if (versionId !== undefined && versionId !== null) query.set('version_id', versionId);
  if (inline) query.set('inline', '1');
  if (teamUuid !== undefined) query.set('team_uuid', teamUuid);
  const base = `/api/v1/workspace/${workspaceUuid}/object-store/buckets/${encodeURIComponent(bucket)}`;
  return `${base}/objects/download?${query.toString()}`;
}

/**
 * Returns the URL of a public object to share: on a domain of the bucket, otherwise on the origin of public objects.
 */
export function publicUrlOf(urls: BucketUrls, key: string): string {
  const [domain] = urls.custom_domains;
  const path = key.split('/').map(encodeURIComponent).join('/');
  if (domain !== undefined) return `https://${domain.replace(/^https?:\/\/|\/$/g, '')}/${path}`;
  return (urls.public_objects ?? urls.management_public).replace('{key}', path);
}
