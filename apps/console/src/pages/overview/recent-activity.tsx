import type { AuditEntry, Workspace } from '@svc/sdk';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { auditQuery } from '../../api/queries.ts';
import { useSvc } from '../../api/svc-context.ts';
import { paths } from '../../routes/paths.ts';
import { formatCount } from '../../ui/format-number.ts';
import { Section } from '../../ui/page.tsx';
import { lazyDialog } from '../../ui/lazy-parts.tsx';
import { BarPlot } from '../../ui/plots.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { auditColumns } from '../audit/audit-columns.tsx';
import { filtersOf } from '../audit/audit-search.ts';
import { activityBars } from './activity-bars.ts';
import styles from './overview.module.css';

const AuditEntryDialog = lazyDialog(async () => ({
  default: (await import('../audit/audit-entry-dialog.tsx')).AuditEntryDialog,
}));

const PAGE_SIZE = 200;
const SHOWN_ENTRIES = 6;

/** The workspace's last day at a glance; the audit log has all entries. */
export function RecentActivity({ workspace }: { workspace: Workspace }) {
  const svc = useSvc();
  const [shown, setShown] = useState<AuditEntry | null>(null);
  const [filters] = useState(() => filtersOf({ period: '24h' }, Date.now()));
  const log = useInfiniteQuery(auditQuery(svc, workspace, filters, PAGE_SIZE));
  const page = log.data?.pages[0];
  const rows = page?.items.slice(0, SHOWN_ENTRIES);
  return (
    <Section
      title="Last 24 hours"
      actions={
        <Link to={paths.audit} params={{ workspace: workspace.uuid }}>
          Audit log
        </Link>
      }
    >
      {log.isError ? (
        <ErrorState error={log.error} onRetry={() => void log.refetch()} />
      ) : (
        <>
          <Activity entries={page?.items ?? []} complete={page?.nextCursor === null} updatedAtMs={log.dataUpdatedAt} />
          <Table
            caption="Latest audit log entries"
            columns={auditColumns(setShown)}
            rows={rows}
            rowKey={(entry) => entry.id}
            skeletonRows={SHOWN_ENTRIES}
            empty={<EmptyState title="No activity">No changes in this workspace.</EmptyState>}
          />
        </>
      )}
      <AuditEntryDialog open={shown !== null} entry={shown} onClose={() => setShown(null)} />
    </Section>
  );
}

interface ActivityProps {
  entries: readonly AuditEntry[];
  /** False if there were more entries than one page, so the older bars would be wrong. */
  complete: boolean;
  updatedAtMs: number;
}

function Activity({ entries, complete, updatedAtMs }: ActivityProps) {
  const times = entries.map((entry) => Date.parse(entry.occurred_at));
  const { bars, total } = activityBars(times, updatedAtMs === 0 ? Date.now() : updatedAtMs);
  const count = total === 1 ? '1 entry' : `${formatCount(total)} entries`;
  const words = complete ? count : `Latest ${count}`;
  return (
    <figure className={styles['activity']}>
      <BarPlot label={`${words} in the last 24 hours, by hour`} bars={bars} />
      <figcaption className={styles['axis']}>
        <span>24 hours ago</span>
        <span>{words}</span>
        <span>Now</span>
      </figcaption>
    </figure>
  );
}
