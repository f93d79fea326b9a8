import { isStatusError, Reflector, type KindReference, type KubeClient, type KubeObject, type Sight } from '@svc/kube';
import type { Logger } from '@svc/telemetry';
import { pause, type Clock } from '@svc/runtime';
import type { AgentConfig } from '../config/schema.ts';
import type { EventState } from '../state/event-state.ts';
import type { Limitations } from '../status/limitations.ts';
import { reportOf, type ClusterEvent } from './cluster-event.ts';
import { lookAtNode, nodeGone, type KeptNode } from './node-events.ts';
import { lookAtPod, podGone, type KeptPod } from './pod-events.ts';
import { involvedIn, lookAtWarning, type Involved, type KeptWarning } from './warning-events.ts';
import { lookAtWorkload, type KeptWorkload } from './workload-events.ts';

export interface ClusterEventsOptions {
  client: Pick<KubeClient, 'list' | 'watch'>;
  clock: Clock;
  random: () => number;
  log: Logger;
  rules: AgentConfig['events'];
  keyPrefix: string;
  /** Namespaces that the agent may read; empty = the whole cluster. */
  namespaces: readonly string[];
  limitations: Limitations;
  /** Stores observations, including those of an earlier process. */
  state: EventState;
}

/** Increment when the stored form of a kind changes: state written by older agents is then ignored. */
const KEPT_SHAPE = 1;
/** Each needs four watches, which are connections to the API server. */
const MAX_NAMESPACES = 50;

interface Look<Kept> {
  kept: Kept;
  events: ClusterEvent[];
}

interface Selection extends KindReference {
  /** Absent = all namespaces. */
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

interface Kind<Kept> extends Selection {
  look(object: KubeObject, before: Kept | null, initial: boolean): Look<Kept>;
  gone?(kept: Kept): ClusterEvent;
}

/**
 * Watches the sources of events: managed pods and workloads, or all of them; nodes; warnings about those. With access
 * limited to some namespaces, it watches each one separately, and no nodes.
 */
export class ClusterEvents {
  readonly #options: ClusterEventsOptions;
  readonly #pods: Reflector<KeptPod>[];
  readonly #workloads: Reflector<KeptWorkload>[];
  readonly #nodes: Reflector<KeptNode>[];
  readonly #warnings: Reflector<KeptWarning>[];
  readonly #failing = new Set<string>();

  constructor(options: ClusterEventsOptions) {
    this.#options = options;
    const { rules, keyPrefix, namespaces } = options;
    const selection = rules.scope === 'all' ? {} : { labelSelector: `${keyPrefix}/project` };
    const everywhere = namespaces.length === 0;
    const places = everywhere ? [{}] : namespaces.slice(0, MAX_NAMESPACES).map((namespace) => ({ namespace }));
    this.#pods = places.map((place) =>
      this.#reflect<KeptPod>({
        apiVersion: 'v1',
        kind: 'Pod',
        ...place,
        ...selection,
        look: (pod, before, initial) => lookAtPod(pod, before, initial, keyPrefix),
        gone: podGone,
      }),
    );
    this.#workloads = ['Deployment', 'StatefulSet'].flatMap((kind) =>
      places.map((place) =>
        this.#reflect<KeptWorkload>({
          apiVersion: 'apps/v1',
          kind,
          ...place,
          ...selection,
          look: (object, before, initial) => lookAtWorkload(object, before, initial, keyPrefix),
        }),
      ),
    );
    const node = { apiVersion: 'v1', kind: 'Node', look: lookAtNode, gone: nodeGone };
    this.#nodes = everywhere ? [this.#reflect<KeptNode>(node)] : [];
    this.#warnings = places.map((place) =>
      this.#reflect<KeptWarning>({
        apiVersion: 'v1',
        kind: 'Event',
        ...place,
        fieldSelector: 'type=Warning',
        look: (event, before, initial) => this.#lookAtWarning(event, before, initial),
      }),
    );
    this.#reportLimits();
  }

  /** Runs until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { rules } = this.#options;
    if (!rules.enabled) return;
    const all = [...this.#nodes, ...this.#workloads, ...this.#pods, ...(rules.warnings ? this.#warnings : [])];
    await Promise.all(all.map((reflector) => reflector.run(signal)));
  }

  /** Reports limitations known before any request. */
  #reportLimits(): void {
    const { rules, namespaces, limitations } = this.#options;
    if (!rules.enabled) return limitations.set('events', 'they are turned off (events.enabled)', 'none');
    if (namespaces.length === 0) return;
    const chosen = 'the agent only watches the namespaces in kubernetes.namespaces';
    limitations.set('events of nodes', chosen, 'none');
    if (namespaces.length <= MAX_NAMESPACES) return;
    const more = `${namespaces.length - MAX_NAMESPACES} of ${namespaces.length} namespaces`;
    limitations.set(`events of ${more}`, `the first ${MAX_NAMESPACES} of kubernetes.namespaces are watched`);
  }

  #reflect<Kept>({ look, gone, ...kind }: Kind<Kept>): Reflector<Kept> {
    const { client, clock, random, log, state, limitations } = this.#options;
    const name = placeNameOf(kind);
    const { namespace } = kind;
    const feature = `events of ${kind.kind} objects${namespace === undefined ? '' : ` in ${namespace}`}`;
    const observe = (sight: Sight, kept: Kept | null, events: readonly ClusterEvent[]): void => {
      const { key, version } = sight;
      state.observe(name, { key, version, kept, events: events.map((event) => reportOf(event, clock.now())) });
    };
    return new Reflector<Kept>({
      client,
      random,
      from: state.place<Kept>(name),
      kind: { apiVersion: kind.apiVersion, kind: kind.kind },
      ...(namespace === undefined ? {} : { namespace }),
      ...(kind.labelSelector === undefined ? {} : { labelSelector: kind.labelSelector }),
      ...(kind.fieldSelector === undefined ? {} : { fieldSelector: kind.fieldSelector }),
      follower: {
        seen: (object, before, sight) => {
          const looked = look({ ...object, apiVersion: kind.apiVersion, kind: kind.kind }, before, sight.initial);
          observe(sight, looked.kept, looked.events);
          return looked.kept;
        },
        gone: (kept, sight) => observe(sight, null, gone === undefined || sight.initial ? [] : [gone(kept)]),
        reached: (version) => {
          limitations.clear(feature);
          state.reached(name, version);
          // Log the next failure again.
          if (version !== '' && this.#failing.delete(name)) {
            log.info({ kind: kind.kind, namespace }, 'watching a kind again');
          }
        },
        synced: () => log.info({ kind: kind.kind, namespace }, 'watching a kind'),
      },
      pause: (delayMs, signal) => pause(clock, delayMs, signal),
      onError: (error, retryMs) => {
        if (isStatusError(error)) limitations.set(feature, error.message);
        const first = !this.#failing.has(name);
        this.#failing.add(name);
        const retryInMs = Math.round(retryMs);
        log[first ? 'warn' : 'debug'](
          { err: error, kind: kind.kind, namespace, retry_in_ms: retryInMs },
          'a kind is not watched',
        );
      },
    });
  }

  #lookAtWarning(event: KubeObject, before: KeptWarning | null, initial: boolean): Look<KeptWarning> {
    const involved = involvedIn(event);
    const pod = this.#podNamed(involved);
    const looked = lookAtWarning(event, before, initial, pod);
    return pod !== undefined || this.#concernsUs(involved) ? looked : { ...looked, events: [] };
  }

  #podNamed({ kind, namespace, name }: Involved): KeptPod | undefined {
    if (kind !== 'Pod') return undefined;
    for (const pods of this.#pods) {
      const found = pods.values().find((pod) => pod.namespace === namespace && pod.name === name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Matches by name, because a warning may be about a ReplicaSet or autoscaler without our label. */
  #concernsUs({ kind, namespace, name }: Involved): boolean {
    if (this.#options.rules.scope === 'all' || kind === 'Node') return true;
    const isOurs = (known: { namespace: string; name: string }): boolean =>
      known.namespace === namespace && (name === known.name || name.startsWith(`${known.name}-`));
    return this.#workloads.some((reflector) => reflector.values().some(isOurs));
  }
}

/** Objects selected or recorded differently are stored under another name. */
function placeNameOf({ apiVersion, kind, namespace, labelSelector = '', fieldSelector = '' }: Selection): string {
  const place = namespace === undefined ? '' : `${namespace}/`;
  return `${KEPT_SHAPE}:${place}${apiVersion}/${kind}?${labelSelector}&${fieldSelector}`;
}
