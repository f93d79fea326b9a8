import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { bucketsQuery } from '../../../api/object-store.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { paths } from '../../../routes/paths.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Page, Section } from '../../../ui/page.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import { shareColumns } from './share-columns.tsx';
import { UsagePlots } from './usage-plots.tsx';
import { parseUsageSearch } from './usage-search.ts';

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
