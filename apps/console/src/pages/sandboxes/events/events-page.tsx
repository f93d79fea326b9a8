import type { SandboxEvent } from '@svc/sdk';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Activity } from 'lucide-react';
import { eventsQuery, useSandboxes } from '../../../api/sandboxes.ts';
import { useSandbox } from '../../../layouts/sandbox-layout.tsx';
import { useWorkspace } from '../../../session/use-session.ts';
import { Status } from '../../../ui/badge.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { Table, type Column } from '../../../ui/table.tsx';
import { AbsoluteTime, RelativeTime } from '../../../ui/time.tsx';
import { ListStack, LoadMore } from '../../../ui/list.tsx';
import { formatDetails, eventLabel } from './event-labels.ts';

const COLUMNS: readonly Column<SandboxEvent>[] = [
  {
    id: 'type',
    header: 'Event',
    width: '11rem',
    narrowWidth: '9.5rem',
    cell: (event) => {
      const { label, tone } = eventLabel(event);
      return <Status tone={tone}>{label}</Status>;
    },
  },
  {
    id: 'details',
    header: 'Details',
    wideOnly: true,
    cell: (event) => <span title={formatDetails(event)}>{formatDetails(event)}</span>,
  },
  { id: 'when', header: 'Age', width: '8rem', cell: ({ at }) => <RelativeTime at={at} /> },
  {
    id: 'at',
    header: 'Time',
    width: '13rem',
    wideOnly: true,
    cell: ({ at }) => (
      <span className="muted">
        <AbsoluteTime at={at} />
      </span>
    ),
  },
];

/** Newest first, with live updates. */
export function EventsPage() {
  const sandbox = useSandbox();
  const api = useSandboxes();
  const workspace = useWorkspace();
  const events = useInfiniteQuery(eventsQuery(api, workspace, sandbox.id));
  if (events.isError) return <ErrorState error={events.error} onRetry={() => void events.refetch()} />;
  return (
    <ListStack>
      <Table
        caption="Sandbox events"
        columns={COLUMNS}
        rows={events.data?.pages.flatMap(({ items }) => items)}
        rowKey={({ id }) => String(id)}
        empty={
          <EmptyState icon={<Activity size={18} />} title="No events yet">
            Older events are not kept.
          </EmptyState>
        }
      />
      <LoadMore query={events} label="Load older" />
    </ListStack>
  );
}
