import type { AuditEntry } from '@svc/sdk';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { useMemo, useState } from 'react';
import { auditQuery } from '../../api/queries.ts';
import { useSvc } from '../../api/svc-context.ts';
import { paths } from '../../routes/paths.ts';
import { useSession, useWorkspace } from '../../session/use-session.ts';
import { administers } from '../../session/administers.ts';
import { Button } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { TabLinks } from '../../ui/tab-links.tsx';
import { Table } from '../../ui/table.tsx';
import { ListStack, LoadMore } from '../../ui/list.tsx';
import { auditColumns } from './audit-columns.tsx';
import { AuditEntryDialog } from './audit-entry-dialog.tsx';
import { AuditFilterBar } from './audit-filter-bar.tsx';
import { filtersOf, type AuditSearch } from './audit-search.ts';

const route = getRouteApi('/shell/w/$workspace/audit');

export function AuditPage() {
  const svc = useSvc();
  const workspace = useWorkspace();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [shown, setShown] = useState<AuditEntry | null>(null);
  const ofAccount = search.of === 'account' || !administers(workspace);
  const filters = useMemo(() => filtersOf(search, Date.now()), [search]);
  const log = useInfiniteQuery(auditQuery(svc, ofAccount ? null : workspace, filters));
  const setSearch = (next: AuditSearch): void => void navigate({ search: next, replace: true, resetScroll: false });
  const filtered = search.actor !== undefined || search.action !== undefined || search.period !== undefined;
  return (
    <Page
      title="Audit log"
      description="Every change and denied request, with who made it and from where. Append-only."
      navigation={administers(workspace) && <AuditTabs ofAccount={ofAccount} />}
    >
      <ListStack>
        <AuditFilterBar key={search.of ?? 'workspace'} search={search} onChange={setSearch} />
        {log.isError ? (
          <ErrorState error={log.error} onRetry={() => void log.refetch()} />
        ) : (
          <Table
            caption="Audit log, newest first"
            columns={auditColumns(setShown)}
            rows={log.data?.pages.flatMap((page) => page.items)}
            rowKey={(entry) => entry.id}
            skeletonRows={12}
            empty={
              <EmptyLog
                filtered={filtered}
                onReset={() => setSearch(search.of === undefined ? {} : { of: search.of })}
              />
            }
          />
        )}
        <LoadMore query={log} label="Load older entries" />
      </ListStack>
      <AuditEntryDialog open={shown !== null} entry={shown} onClose={() => setShown(null)} />
    </Page>
  );
}

/** The logs of the workspace and of the account; an operator’s account log covers everything. */
function AuditTabs({ ofAccount }: { ofAccount: boolean }) {
  const { me } = useSession();
  const { uuid, name } = useWorkspace();
  const link = { to: paths.audit, params: { workspace: uuid } } as const;
  return (
    <TabLinks
      label="Audit log scope"
      tabs={[
        { label: name, link, current: !ofAccount },
        {
          label: me.user.operator ? 'Entire installation' : 'Your account',
          link: { ...link, search: { of: 'account' } },
          current: ofAccount,
        },
      ]}
    />
  );
}

function EmptyLog({ filtered, onReset }: { filtered: boolean; onReset: () => void }) {
  if (!filtered) {
    return (
      <EmptyState icon={<ScrollText size={18} />} title="No activity yet">
        Changes appear here as they happen.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={<ScrollText size={18} />}
      title="No matching entries"
      action={<Button onClick={onReset}>Clear filters</Button>}
    >
      Actor and action must match exactly, for example token:create.
    </EmptyState>
  );
}
