import {
  Reflector,
  identityOf,
  isStatusError,
  referenceOf,
  type KubeClient,
  type KubeObject,
  type ObjectReference,
} from '@svc/kube';
import type { Logger } from '@svc/telemetry';
import { pause, type Clock } from '@svc/runtime';
import type { LiveConfig } from '../config/live-config.ts';
import { detailsOf, type ClusterEvent } from '../events/cluster-event.ts';
import type { Limitations } from '../status/limitations.ts';
import { Corrections } from './corrections.ts';
import { expectedObject, keyOf, type Expectations, type ExpectedObject, type ExpectedProject } from './expectations.ts';
import { lastManager, lostFields, ownedFields, type OwnedFields } from './owned-fields.ts';

export interface DriftWatchOptions {
  client: KubeClient;
  config: LiveConfig;
  clock: Clock;
  random: () => number;
  log: Logger;
  expectations: Expectations;
  limitations: Limitations;
  report(event: ClusterEvent): void;
}

/** The in-memory part of a watched object. */
interface Kept {
  identity: string;
  resourceVersion: string;
  owned: OwnedFields;
  manager: string;
}

export interface AppliedByDeploy {
  /** As sent. */
  intent: KubeObject;
  /** As returned by the server. */
  object: KubeObject;
}

export interface AppliedProject {
  namespace: string;
  projectId: string;
  objects: readonly AppliedByDeploy[];
  /** False: the project's other expectations remain, because the deploy failed midway or did not prune. */
  whole: boolean;
  /** Deleted by the deploy itself: an unwanted autoscaler is deleted even without pruning. */
  deleted: readonly ObjectReference[];
}

/** Watch of one kind in one namespace. */
interface KindWatch {
  abort: AbortController;
  done: Promise<void>;
  reflector: Reflector<Kept>;
  /** Its name among the limitations if watching is not permitted. */
  feature: string;
}

const MAX_WATCHES = 200;
const TOO_MANY = 'drift of further kinds';

/**
 * Watches the objects that deploys created, by metadata alone: a field changed by another manager is no longer ours in
 * `managedFields`. Watches per kind and namespace, so that a Role in one namespace suffices.
 */
export class DriftWatch {
  readonly #options: DriftWatchOptions;
  readonly #corrections: Corrections;
  /** By kind and namespace. */
  readonly #watches = new Map<string, KindWatch>();
  /** Projects being deployed: changes to them are our own meanwhile. */
  readonly #deploying = new Map<string, number>();
  #signal: AbortSignal | null = null;

  constructor(options: DriftWatchOptions) {
    this.#options = options;
    this.#corrections = new Corrections(options);
  }

  /** Runs until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    this.#options.config.onChange(() => this.#adjust());
    this.#adjust();
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.all([...this.#watches.values()].map(({ done }) => done));
    await this.#corrections.settled();
  }

  /** Suspends drift detection of a project during a deploy. The returned function resumes it. */
  deploying(project: Pick<ExpectedProject, 'namespace' | 'projectId'>): () => void {
    const key = keyOf(project);
    this.#deploying.set(key, (this.#deploying.get(key) ?? 0) + 1);
    return () => {
      const left = (this.#deploying.get(key) ?? 1) - 1;
      if (left > 0) this.#deploying.set(key, left);
      else this.#deploying.delete(key);
      this.#judgeAll();
    };
  }

  /** The uid of the object that replaced a deleted one of the project; undefined for all others. */
  putBackUid(project: Pick<ExpectedProject, 'namespace' | 'projectId'>, object: ObjectReference): string | undefined {
    const identity = identityOf(object);
    return this.#options.expectations.of(project).find((each) => identityOf(each) === identity)?.putBackUid;
  }

  /** Makes what a deploy applied the expected state of the project. */
  async applied({ namespace, projectId, objects, whole, deleted }: AppliedProject): Promise<void> {
    const { config, expectations } = this.#options;
    const project = { namespace, projectId };
    const { drift, field_manager: manager } = config.current.deploy;
    const expected = objects.map(({ object, intent }) =>
      expectedObject(object, ownedFields(object.metadata, manager), drift === 'correct' ? intent : null),
    );
    const settled = new Set([...expected, ...deleted].map(identityOf));
    const others = whole ? [] : expectations.of(project).filter((each) => !settled.has(identityOf(each)));
    await expectations.set({ ...project, objects: [...others, ...expected] });
    this.#adjust();
  }

  /** Watches exactly what is currently expected. */
  #adjust(): void {
    const { config, expectations, limitations, log } = this.#options;
    if (this.#signal === null || this.#signal.aborted) return;
    const wanted = new Map<string, ExpectedObject>();
    if (config.current.deploy.drift !== 'off') {
      for (const object of expectations.objects()) wanted.set(watchKeyOf(object), object);
    }
    limitations.clear(TOO_MANY);
    for (const [key, { abort, feature }] of this.#watches) {
      if (wanted.has(key)) continue;
      abort.abort();
      limitations.clear(feature);
      this.#watches.delete(key);
    }
    for (const [key, object] of wanted) {
      if (this.#watches.has(key)) continue;
      if (this.#watches.size >= MAX_WATCHES) {
        const { kind, namespace } = object;
        log.warn({ kind, namespace }, 'too many kinds and namespaces to watch for drift');
        limitations.set(TOO_MANY, `no more than ${MAX_WATCHES} kinds and namespaces are watched`);
        return;
      }
      this.#watch(key, object, this.#signal);
    }
  }

  #watch(key: string, { apiVersion, kind, namespace }: ExpectedObject, stopped: AbortSignal): void {
    const { client, config, clock, random, log, limitations } = this.#options;
    const abort = new AbortController();
    const feature = `drift of ${kind} objects${namespace === undefined ? '' : ` in ${namespace}`}`;
    let failed = false;
    const reflector = new Reflector<Kept>({
      client,
      kind: { apiVersion, kind },
      ...(namespace === undefined ? {} : { namespace }),
      labelSelector: `${config.current.agent.key_prefix}/project`,
      metadataOnly: true,
      random,
      follower: {
        seen: (object) => this.#seen({ ...object, apiVersion, kind }),
        gone: ({ identity, resourceVersion }, sight) => this.#judge(identity, null, sight.version ?? resourceVersion),
        reached: (version) => {
          limitations.clear(feature);
          if (version !== '') failed = false; // log the next failure again
        },
        synced: () => this.#judgeAll(),
      },
      pause: (delayMs, signal) => pause(clock, delayMs, signal),
      onError: (error, retryMs) => {
        if (isStatusError(error, 403) && !abort.signal.aborted) limitations.set(feature, error.message);
        const words = { err: error, kind, namespace, retry_in_ms: Math.round(retryMs) };
        log[failed ? 'debug' : 'warn'](words, 'drift of a kind is not watched');
        failed = true;
      },
    });
    const done = reflector.run(AbortSignal.any([abort.signal, stopped]));
    this.#watches.set(key, { abort, done, reflector, feature });
  }

  #seen(object: KubeObject): Kept {
    const { field_manager: manager } = this.#options.config.current.deploy;
    const kept: Kept = {
      identity: identityOf(referenceOf(object)),
      resourceVersion: object.metadata.resourceVersion ?? '',
      owned: ownedFields(object.metadata, manager),
      manager: lastManager(object.metadata, manager),
    };
    this.#judge(kept.identity, kept, kept.resourceVersion);
    return kept;
  }

  /** After a first list or a deploy: checks all expected objects, including missing ones. */
  #judgeAll(): void {
    const { expectations } = this.#options;
    for (const [key, { reflector }] of this.#watches) {
      const { version } = reflector;
      if (version === null) continue; // its first list is not complete
      const seen = new Map([...reflector.values()].map((kept) => [kept.identity, kept]));
      for (const object of [...expectations.objects()].filter((each) => watchKeyOf(each) === key)) {
        const kept = seen.get(identityOf(object)) ?? null;
        if (kept !== null) this.#judge(kept.identity, kept, kept.resourceVersion);
        else this.#judge(identityOf(object), null, version);
      }
    }
  }

  /** `kept` null: the object is gone. */
  #judge(identity: string, kept: Kept | null, version: string): void {
    const { expectations, config, report, log } = this.#options;
    const found = expectations.find(identity);
    const mode = config.current.deploy.drift;
    if (found === null || mode === 'off' || this.#deploying.has(keyOf(found.project))) return;
    const { project, object } = found;
    if (isOlder(version, object.resourceVersion)) return;
    const lost = kept === null ? ['.'] : lostFields(object.owned, kept.owned);
    const drift = lost.join(' ');
    if (drift === object.told) return;
    object.told = drift;
    expectations
      .save(project)
      .catch((error: unknown) => log.error({ err: error }, 'the expected objects could not be stored'));
    if (drift === '') return; // already restored
    const details = detailsOf({
      project_id: project.projectId,
      change: kept === null ? 'deleted' : 'changed',
      fields: kept === null ? '' : lost.join(', '),
      manager: kept?.manager,
    });
    const place = { namespace: object.namespace ?? '', resource: `${object.kind.toLowerCase()}/${object.name}` };
    report({ type: 'drift_detected', ...place, details });
    if (mode !== 'correct' || this.#signal === null) return;
    const superseded = (): boolean => this.#deploying.has(keyOf(project));
    this.#corrections.correct({ project, object, details, superseded }, this.#signal);
  }
}

function watchKeyOf({ apiVersion, kind, namespace = '' }: ExpectedObject): string {
  return `${apiVersion}/${kind} ${namespace}`;
}

/** Versions are increasing numbers; anything else is not compared. */
function isOlder(version: string, than: string): boolean {
  return /^\d+$/.test(version) && /^\d+$/.test(than) && BigInt(version) < BigInt(than);
}
