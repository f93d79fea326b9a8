import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { bucketsQuery } from '../../../api/object-store.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { paths } from '../../../routes/paths.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Page, Section } from '../../../ui/page.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { Table, type Column } from '../../../ui/table.tsx';
import { UsagePlots } from './usage-plots.tsx';
import { parseUsageSearch } from './usage-search.ts';
import type { Bucket, Workspace } from '@svc/sdk';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { formatCount } from '../../../ui/format-number.ts';
import { Meter } from '../../../ui/plots.tsx';

const figure = { align: 'end', width: '7.5rem', narrowWidth: '5.5rem' } as const;

const route = getRouteApi('/shell/w/$workspace/usage');

/** Usage of the workspace, in total and by bucket. */
export function UsagePage() {
  const svc = useSvc();
  const workspace = useWorkspace();
  const { span } = route.useSearch();
  const navigate = route.useNavigate();
  const buckets = useQuery(bucketsQuery(svc, workspace));
  const total = (buckets.data ?? []).reduce((sum, bucket) => sum + bucket.size_bytes, 0);
  return (
    <Page
      title="Usage"
      description="Storage, requests and traffic of the buckets in this workspace."
      parent={{ label: 'Buckets', link: { to: paths.buckets, params: { workspace: workspace.uuid } } }}
    >
      <UsagePlots
        span={span}
        onSpan={(next) =>
          void navigate({ search: parseUsageSearch({ span: next }), replace: true, resetScroll: false })
        }
      />
      <Section title="By bucket" description="Current size, largest first.">
        {buckets.isError ? (
          <ErrorState error={buckets.error} onRetry={() => void buckets.refetch()} />
        ) : (
          <Table
            caption="Buckets by size"
            columns={shareColumns(workspace, total)}
            rows={buckets.data?.toSorted((one, other) => other.size_bytes - one.size_bytes)}
            rowKey={({ name }) => name}
            empty={<EmptyState title="No buckets yet">Usage by bucket appears here.</EmptyState>}
          />
        )}
      </Section>
    </Page>
  );
}

/** `total`: bytes of all buckets. */
function shareColumns(workspace: Workspace, total: number): Column<Bucket>[] {
  return [
    {
      id: 'name',
      header: 'Bucket',
      cell: ({ name }) => (
        <Link to={paths.bucketUsage} params={{ workspace: workspace.uuid, bucket: name }}>
          {name}
        </Link>
      ),
    },
    {
      id: 'share',
      header: 'Share',
      width: '14rem',
      wideOnly: true,
      cell: ({ name, size_bytes: size }) => (
        <Meter label={`Share of ${name}`} value={size} limit={total} tone="share" text={formatPercent(size, total)} />
      ),
    },
    { ...figure, id: 'size', header: 'Stored', cell: (bucket) => formatBytes(bucket.size_bytes) },
    { ...figure, id: 'objects', header: 'Objects', cell: (bucket) => formatCount(bucket.object_count) },
  ];
}

function formatPercent(part: number, whole: number): string {
  return `${whole === 0 ? 0 : Math.round((part / whole) * 100)}%`;
}
