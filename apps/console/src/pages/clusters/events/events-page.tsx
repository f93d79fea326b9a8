import type { ClusterEvent } from '@svc/sdk';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Activity } from 'lucide-react';
import { clusterEventsQuery, useClusters } from '../../../api/clusters.ts';
import { useCluster } from '../../../layouts/cluster-layout.tsx';
import { useWorkspace } from '../../../session/use-session.ts';
import { Status } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { Table, type Column } from '../../../ui/table.tsx';
import { AbsoluteTime, RelativeTime } from '../../../ui/time.tsx';
import { ListStack, LoadMore, TwoLines, WrappedText } from '../../../ui/list.tsx';
import { EventFilterBar } from './event-filter-bar.tsx';
import { formatDetails, eventLabel } from './event-labels.ts';
import type { EventsSearch } from './events-search.ts';

const route = getRouteApi('/shell/w/$workspace/clusters/$cluster/events');

/** Newest first, with live updates. */
export function ClusterEventsPage() {
  const cluster = useCluster();
  const api = useClusters();
  const workspace = useWorkspace();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { type, namespace } = search;
  const filter = { ...(type !== undefined && { eventType: type }), ...(namespace !== undefined && { namespace }) };
  const events = useInfiniteQuery(clusterEventsQuery(api, workspace, cluster.id, filter));
  const change = (next: EventsSearch): void => void navigate({ search: next, replace: true, resetScroll: false });
  if (events.isError && events.data === undefined) {
    return <ErrorState error={events.error} onRetry={() => void events.refetch()} />;
  }
  return (
    <ListStack>
      <EventFilterBar key={namespace ?? ''} search={search} onChange={change} />
      <Table<ClusterEvent>
        caption="Cluster events, newest first"
        columns={COLUMNS}
        rows={events.data?.pages.flatMap(({ items }) => items)}
        rowKey={({ sequence }) => String(sequence)}
        skeletonRows={8}
        empty={
          type === undefined && namespace === undefined ? (
            <EmptyState icon={<Activity size={18} />} title="No events yet">
              Changes to deployed workloads and nodes appear here as they happen.
            </EmptyState>
          ) : (
            <EmptyState title="No matching events" action={<Button onClick={() => change({})}>Clear filters</Button>}>
              No events of this type and namespace.
            </EmptyState>
          )
        }
      />
      <LoadMore query={events} label="Load older" />
    </ListStack>
  );
}

const COLUMNS: readonly Column<ClusterEvent>[] = [
  {
    id: 'type',
    header: 'Event',
    width: '11.5rem',
    narrowWidth: '8.5rem',
    cell: ({ event_type: type }) => {
      const { label, tone } = eventLabel(type);
      return <Status tone={tone}>{label}</Status>;
    },
  },
  {
    id: 'resource',
    header: 'Resource',
    cell: ({ resource, namespace }) => (
      <TwoLines title={resource} under={namespace !== '' && `in ${namespace}`}>
        {resource}
      </TwoLines>
    ),
  },
  {
    id: 'details',
    header: 'Details',
    wideOnly: true,
    cell: (event) => <WrappedText>{formatDetails(event)}</WrappedText>,
  },
  {
    id: 'when',
    header: 'Age',
    width: '7.5rem',
    narrowWidth: '6rem',
    cell: ({ occurred_at: at }) => <RelativeTime at={at} />,
  },
  {
    id: 'at',
    header: 'Time',
    width: '12rem',
    wideOnly: true,
    cell: ({ occurred_at: at }) => (
      <span className="muted">
        <AbsoluteTime at={at} />
      </span>
    ),
  },
];
