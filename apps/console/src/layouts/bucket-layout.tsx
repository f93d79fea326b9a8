import { useParams } from '@tanstack/react-router';
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

/** The bucket that the URL names; its route has made sure that it exists. */
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
