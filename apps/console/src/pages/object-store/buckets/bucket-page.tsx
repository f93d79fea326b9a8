import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { paths } from '../../../routes/paths.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Page } from '../../../ui/page.tsx';
import { TabLinks } from '../../../ui/tab-links.tsx';

const TABS = [
  ['objects', 'Objects', paths.bucket],
  ['lifecycle', 'Lifecycle', paths.bucketLifecycle],
  ['domains', 'Domains', paths.bucketDomains],
  ['usage', 'Usage', paths.bucketUsage],
  ['settings', 'Settings', paths.bucketSettings],
] as const;

export interface BucketPageProps {
  current: (typeof TABS)[number][0];
  actions?: ReactNode;
  width?: 'normal' | 'narrow';
  children: ReactNode;
}

/** The bucket that the URL names. */
export function useBucketName(): string {
  const { bucket } = useParams({ strict: false });
  if (bucket === undefined) throw new Error('the page has no bucket in its path');
  return bucket;
}

/** The frame of all pages of one bucket. */
export function BucketPage({ current, actions, width = 'normal', children }: BucketPageProps) {
  const workspace = useWorkspace();
  const bucket = useBucketName();
  const params = { workspace: workspace.uuid, bucket };
  return (
    <Page
      title={bucket}
      parent={{ label: 'Buckets', link: { to: paths.buckets, params: { workspace: workspace.uuid } } }}
      actions={actions}
      width={width}
      navigation={
        <TabLinks
          label="Bucket"
          tabs={TABS.map(([id, label, to]) => ({ label, link: { to, params }, current: id === current }))}
        />
      }
    >
      {children}
    </Page>
  );
}
