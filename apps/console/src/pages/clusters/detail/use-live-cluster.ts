import { useQueryClient, type Query, type QueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { clusterEventsKey, clusterKey, useClusters, type EventFilter } from '../../../api/clusters.ts';
import { useIsSeen } from '../../../session/use-is-seen.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { isTooLong, withEvent, type EventPages } from './live-events.ts';

/** Refetched on cluster events; everything else is polled. */
const CONCERNED = ['nodes', 'workloads', 'pods'];

/** Applies events of a cluster as they arrive, while the page is visible. */
export function useLiveCluster(id: string): void {
  const api = useClusters();
  const queryClient = useQueryClient();
  const isSeen = useIsSeen();
  const { uuid } = useWorkspace();
  useEffect(() => {
    if (!isSeen) return;
    const gone = new AbortController();
    const eventsKey = clusterEventsKey({ uuid }, id);
    const { signal } = gone;
    const refetchWhenIdle = createIdleRefetch(queryClient, signal);
    const follow = async (): Promise<void> => {
      // Get the start before following, so that no event falls between the loaded and the live ones.
      const { items } = await api.of(id).events({ pageSize: 1 }, { signal });
      void queryClient.invalidateQueries({ queryKey: eventsKey });
      for await (const event of api.of(id).followEvents({ after: items[0]?.sequence ?? 0 }, { signal })) {
        for (const query of queryClient.getQueryCache().findAll({ queryKey: eventsKey })) {
          const { queryKey } = query;
          const filter = queryKey[eventsKey.length] as EventFilter; // the key of `clusterEventsQuery`
          const shown = queryClient.setQueryData<EventPages>(queryKey, (data) => withEvent(data, event, filter));
          if (query.state.fetchStatus === 'fetching') refetchWhenIdle(query);
          else if (isTooLong(shown)) void queryClient.invalidateQueries({ queryKey });
        }
        for (const what of CONCERNED) {
          // Don't restart a running fetch: frequent events would keep it from ever completing.
          const queryKey = [...clusterKey({ uuid }, id), what];
          void queryClient.invalidateQueries({ queryKey }, { cancelRefetch: false });
        }
      }
    };
    // Refused or ended: polling suffices.
    follow().catch(() => undefined);
    return () => gone.abort();
  }, [api, uuid, id, isSeen, queryClient]);
}

/**
 * Refetches a query once its running fetch ends, whose answer may be older than an event. Does not restart the fetch:
 * frequent events would keep it from ever completing.
 */
function createIdleRefetch(queryClient: QueryClient, signal: AbortSignal): (query: Query) => void {
  const waiting = new Set<Query>();
  const unsubscribe = queryClient.getQueryCache().subscribe(({ query }) => {
    if (!waiting.has(query) || query.state.fetchStatus === 'fetching') return;
    waiting.delete(query);
    void queryClient.invalidateQueries({ queryKey: query.queryKey, exact: true });
  });
  signal.addEventListener('abort', unsubscribe, { once: true });
  return (query) => void waiting.add(query);
}
