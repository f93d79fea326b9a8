import type { Bucket } from '@svc/sdk';
import { notFound, useParams } from '@tanstack/react-router';
import { bucketsQuery } from '../api/object-store.ts';
import { refetch, requireResource, type RouterContext } from '../routes/guards.ts';
import { paths } from '../routes/paths.ts';
import { useWorkspace } from '../session/use-session.ts';
import { MissingPage } from './missing-page.tsx';
import { TabbedPage, type Tab } from './tabbed-page.tsx';

const TABS: readonly Tab[] = [
  { label: 'Objects', to: paths.bucket },
  { label: 'Lifecycle', to: paths.bucketLifecycle },
  { label: 'Domains', to: paths.bucketDomains },
  { label: 'Usage', to: paths.bucketUsage },
  { label: 'Settings', to: paths.bucketSettings, narrow: true },
];

export function loadBucket(context: RouterContext, params: { workspace: string; bucket: string }): Promise<void> {
  const { svc, queryClient } = context;
  return requireResource(context, params.workspace, async (workspace) => {
    const query = bucketsQuery(svc, workspace);
    const isThere = (buckets: readonly Bucket[]): boolean => buckets.some(({ name }) => name === params.bucket);
    // A bucket missing from the cached list may be newer than it.
    if (!isThere(await queryClient.ensureQueryData(query)) && !isThere(await refetch(queryClient, query)))
      throw notFound();
  });
}

/** The bucket in the URL; its route has verified that it exists. */
export function useBucketName(): string {
  const { bucket } = useParams({ strict: false });
  if (bucket === undefined) throw new Error('the page has no bucket in its path');
  return bucket;
}

export function BucketLayout() {
  const workspace = useWorkspace();
  const bucket = useBucketName();
  return (
    <TabbedPage
      title={bucket}
      parent={{ label: 'Buckets', link: { to: paths.buckets, params: { workspace: workspace.uuid } } }}
      label="Bucket"
      tabs={TABS}
      params={{ workspace: workspace.uuid, bucket }}
    />
  );
}

export function MissingBucket() {
  const params = { workspace: useWorkspace().uuid };
  return <MissingPage what="Bucket" parent={{ label: 'Buckets', link: { to: paths.buckets, params } }} />;
}
