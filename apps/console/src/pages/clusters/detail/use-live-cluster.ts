import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { clusterEventsKey, clusterKey, useClusters, type EventFilter } from '../../../api/clusters.ts';
import { useIsSeen } from '../../../session/use-is-seen.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { isTooLong, withEvent, type EventPages } from './live-events.ts';

/** What is asked anew when something happens in the cluster; the rest has intervals of its own. */
const CONCERNED = ['nodes', 'workloads', 'pods'];

/** Takes in what happens in a cluster as its platform hears of it, only while the page is seen. */
export function useLiveCluster(id: string): void {
  const api = useClusters();
  const queryClient = useQueryClient();
  const isSeen = useIsSeen();
  const { uuid } = useWorkspace();
  useEffect(() => {
    if (!isSeen) return;
    const gone = new AbortController();
    const eventsKey = clusterEventsKey({ uuid }, id);
    const follow = async (): Promise<void> => {
      const { signal } = gone;
      // Known first, asked for then: so none falls between what is loaded and what is followed.
      const { items } = await api.of(id).events({ pageSize: 1 }, { signal });
      void queryClient.invalidateQueries({ queryKey: eventsKey });
      for await (const event of api.of(id).followEvents({ after: items[0]?.sequence ?? 0 }, { signal })) {
        for (const { queryKey } of queryClient.getQueryCache().findAll({ queryKey: eventsKey })) {
          const filter = queryKey[eventsKey.length] as EventFilter; // the key of `clusterEventsQuery`
          const shown = queryClient.setQueryData<EventPages>(queryKey, (data) => withEvent(data, event, filter));
          if (isTooLong(shown)) void queryClient.invalidateQueries({ queryKey });
        }
        for (const what of CONCERNED) {
          // A read under way is not restarted: many events in a row would keep it from ever finishing.
          const queryKey = [...clusterKey({ uuid }, id), what];
          void queryClient.invalidateQueries({ queryKey }, { cancelRefetch: false });
        }
      }
    };
    // Refused or over: the intervals are enough.
    follow().catch(() => undefined);
    return () => gone.abort();
  }, [api, uuid, id, isSeen, queryClient]);
}
