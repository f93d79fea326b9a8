import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Box, Plus, Square, Trash2 } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { statusQuery } from '../../../api/queries.ts';
import { sandboxListQuery, useSandboxes } from '../../../api/sandboxes.ts';
import type { Sandbox } from '../../../api/sandbox-types.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { Page, Panel } from '../../../ui/page.tsx';
import { Meter } from '../../../ui/plots.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import { ListStack, LoadMore } from '../../../ui/list.tsx';
import { SelectionBar } from '../../../ui/selection.tsx';
import { useSelection } from '../../../ui/use-selection.ts';
import { CreateSandboxDialog } from '../create/create-sandbox-dialog.tsx';
import { useLiveSandboxes } from '../detail/use-live-sandboxes.ts';
import { ChangeSandboxesDialog } from './change-sandboxes-dialog.tsx';
import { FilterBar } from './filter-bar.tsx';
import styles from './list.module.css';
import { sandboxColumns } from './sandbox-columns.tsx';
import type { SandboxesSearch } from './sandboxes-search.ts';
import { SandboxesTabs } from './sandboxes-tabs.tsx';

const route = getRouteApi('/shell/w/$workspace/sandboxes');

export function SandboxesPage() {
  const svc = useSvc();
  const workspace = useWorkspace();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: platform } = useQuery(statusQuery(svc, workspace));
  const state = platform?.services.sandboxes;
  const change = (next: SandboxesSearch): void => void navigate({ search: next, replace: true, resetScroll: false });
  const openCreate = (open: boolean): void => {
    const { create: _create, ...rest } = search;
    change(open ? { ...rest, create: true } : rest);
  };
  const newSandbox = mayWrite(workspace) && state?.enabled !== false && (
    <Button variant="primary" icon={<Plus size={15} />} onClick={() => openCreate(true)}>
      New sandbox
    </Button>
  );
  return (
    <Page
      title="Sandboxes"
      description="Isolated machines that start in milliseconds, with their own shell, files and limits."
      actions={newSandbox}
      navigation={<SandboxesTabs current="sandboxes" />}
    >
      {state?.enabled === false ? (
        <Panel padded={false}>
          <EmptyState icon={<Box size={18} />} title="Sandboxes are disabled on this platform">
            {state.reason}
          </EmptyState>
        </Panel>
      ) : (
        <SandboxList search={search} onSearch={change} newSandbox={newSandbox} quota={state} />
      )}
      <CreateSandboxDialog open={search.create === true && mayWrite(workspace)} onClose={() => openCreate(false)} />
    </Page>
  );
}

interface SandboxListProps {
  search: SandboxesSearch;
  onSearch: (search: SandboxesSearch) => void;
  newSandbox: ReactNode;
  quota: { total: number; limit: number } | undefined;
}

function SandboxList({ search, onSearch, newSandbox, quota }: SandboxListProps) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const { status, label, text } = search;
  const sandboxes = useInfiniteQuery(sandboxListQuery(api, workspace, { status, label }));
  useLiveSandboxes(null);
  const all = sandboxes.data?.pages.flatMap(({ items }) => items);
  const shown = all?.filter((each) => matches(each, text));
  const selection = useSelection(shown ?? [], ({ id }) => id);
  const canStop = selection.items.some(({ status: state }) => state === 'running' || state === 'creating');
  const [asked, setAsked] = useState<{ change: 'stop' | 'delete'; sandboxes: readonly Sandbox[] }>(NOTHING);
  const ask = (what: 'stop' | 'delete', which: readonly Sandbox[]): void =>
    setAsked({ change: what, sandboxes: which });
  const filtered = status !== undefined || label !== undefined || text !== undefined;
  if (sandboxes.isError && all === undefined) {
    return <ErrorState error={sandboxes.error} onRetry={() => void sandboxes.refetch()} />;
  }
  return (
    <ListStack>
      <FilterBar search={search} onChange={onSearch} />
      <div className={styles['bar']}>
        <Quota quota={quota} />
        <SelectionBar selection={selection}>
          {canStop && (
            <Button size="small" icon={<Square size={12} />} onClick={() => ask('stop', selection.items)}>
              Stop
            </Button>
          )}
          <Button
            size="small"
            variant="danger"
            icon={<Trash2 size={13} />}
            onClick={() => ask('delete', selection.items)}
          >
            Delete
          </Button>
        </SelectionBar>
      </div>
      <Table
        caption="Sandboxes"
        columns={sandboxColumns({
          workspace,
          selection,
          onDelete: mayWrite(workspace) ? (which) => ask('delete', which) : null,
        })}
        rows={shown}
        rowKey={({ id }) => id}
        empty={filtered ? <NoneFound onClear={() => onSearch({})} /> : <NoneYet action={newSandbox} />}
      />
      <LoadMore query={sandboxes} />
      <ChangeSandboxesDialog
        {...asked}
        onClose={() => setAsked({ ...asked, sandboxes: [] })}
        onDone={selection.clear}
      />
    </ListStack>
  );
}

const NOTHING = { change: 'delete', sandboxes: [] } as const;

function matches({ name, image, id }: Sandbox, text = ''): boolean {
  const wanted = text.toLowerCase();
  return [name, image, id].some((each) => each.toLowerCase().includes(wanted));
}

function Quota({ quota }: { quota: SandboxListProps['quota'] }) {
  if (quota === undefined) return <span className={styles['quota']}>&nbsp;</span>;
  const { total, limit } = quota;
  return (
    <div className={styles['quota']}>
      <span>
        {total} of {limit} sandboxes
      </span>
      <Meter label="Sandbox limit" value={total} limit={limit} />
    </div>
  );
}

function NoneYet({ action }: { action: ReactNode }) {
  return (
    <EmptyState icon={<Box size={18} />} title="No sandboxes yet" action={action}>
      Create a sandbox to run code in isolation from everything else.
    </EmptyState>
  );
}

function NoneFound({ onClear }: { onClear: () => void }) {
  return (
    <EmptyState title="No matching sandboxes" action={<Button onClick={onClear}>Clear filters</Button>}>
      Change or clear the filters to see more.
    </EmptyState>
  );
}
