import type { KubeObject } from '@svc/kube';
import { count } from './records.ts';
import { isDeployed } from './workload.ts';
import { NAMESPACE, type World } from './world.ts';

/** The cluster's own view, from separate watches that no fault affects. */
export interface Observer {
  readonly applied: Map<string, number>;
  readonly podsCreated: Set<string>;
  readonly podsDeleted: Set<string>;
  stop(): Promise<void>;
}

const WATCH_SECONDS = 36_000;

/** Deletes each deployed object once seen, so that a second apply creates it again. */
export async function startObserver({ client }: World): Promise<Observer> {
  const abort = new AbortController();
  const applied = new Map<string, number>();
  const podsCreated = new Set<string>();
  const podsDeleted = new Set<string>();
  const watches = [
    await watch('ConfigMap', (type, { metadata: { name, uid } }) => {
      if (type !== 'ADDED' || !isDeployed(name)) return;
      count(applied, name);
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', namespace: NAMESPACE, name };
      return client.delete(reference, uid === undefined ? {} : { uid });
    }),
    await watch('Pod', (type, { metadata: { name } }) => {
      if (type === 'ADDED') podsCreated.add(name);
      if (type === 'DELETED') podsDeleted.add(name);
    }),
  ];

  async function watch(
    kind: string,
    see: (type: string, object: KubeObject) => unknown,
  ): Promise<{ ended: Promise<void> }> {
    let resourceVersion = '';
    for await (const page of client.list({ apiVersion: 'v1', kind }, { namespace: NAMESPACE })) {
      resourceVersion = page.resourceVersion;
    }
    const follow = async (): Promise<void> => {
      const options = { namespace: NAMESPACE, timeoutSeconds: WATCH_SECONDS, signal: abort.signal };
      for await (const event of client.watch({ apiVersion: 'v1', kind }, { ...options, resourceVersion })) {
        if (event.type !== 'BOOKMARK') await see(event.type, event.object);
      }
    };
    const ended = follow();
    ended.catch(() => undefined); // awaited at the end of the round, which reports why
    return { ended };
  }

  return {
    applied,
    podsCreated,
    podsDeleted,
    stop: async () => {
      abort.abort();
      await Promise.all(watches.map(({ ended }) => ended));
    },
  };
}
