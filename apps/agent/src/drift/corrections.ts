import { identityOf, type KubeClient } from '@svc/kube';
import type { Logger } from '@svc/telemetry';
import { pause, type Clock } from '@svc/runtime';
import { withLiveOwner } from '../autoscale/live-owner.ts';
import type { LiveConfig } from '../config/live-config.ts';
import type { ClusterEvent } from '../events/cluster-event.ts';
import { ownedFields } from './owned-fields.ts';
import type { Expectations, ExpectedObject, ExpectedProject } from './expectations.ts';

export interface CorrectionsOptions {
  client: Pick<KubeClient, 'apply' | 'get'>;
  config: LiveConfig;
  clock: Clock;
  log: Logger;
  expectations: Expectations;
  report(event: ClusterEvent): void;
}

export interface Drift {
  project: ExpectedProject;
  object: ExpectedObject;
  details: Record<string, string>;
  /** True while the project is being deployed, which takes precedence. */
  superseded(): boolean;
}

/**
 * Two insistent parties would change an object forever: beyond this many corrections in this time, drift is only
 * reported.
 */
const MOST_CORRECTIONS = 5;
const WITHIN_MS = 10 * 60_000;
const ATTEMPTS = 5;
const FIRST_PAUSE_MS = 1000;

/** Reverts foreign changes: applies the object again as its deploy did. */
export class Corrections {
  readonly #options: CorrectionsOptions;
  /** Correction times per object, newest last; dropped when they no longer count. */
  readonly #times = new Map<string, number[]>();
  /** Serialized: drift is rare, and a storm of it must not become a storm of writes. */
  #last: Promise<void> = Promise.resolve();

  constructor(options: CorrectionsOptions) {
    this.#options = options;
  }

  correct(drift: Drift, signal: AbortSignal): void {
    const { log } = this.#options;
    const { kind, name, namespace, intent } = drift.object;
    if (intent === null) {
      log.warn({ kind, name, namespace }, "drift cannot be corrected until the project's next deploy");
    } else if (!this.#isAllowed(identityOf(drift.object))) {
      log.warn(
        { kind, name, namespace },
        'drift keeps coming back; correction stopped because another controller keeps changing the object',
      );
    } else {
      this.#last = this.#last
        .then(() => this.#attempt(drift, signal))
        .catch((error: unknown) => log.error({ err: error, kind, name, namespace }, 'drift could not be corrected'));
    }
  }

  settled(): Promise<void> {
    return this.#last;
  }

  #isAllowed(identity: string): boolean {
    const nowMs = this.#options.clock.nowMs();
    for (const [each, times] of this.#times) if (nowMs - (times.at(-1) ?? 0) >= WITHIN_MS) this.#times.delete(each);
    const recent = (this.#times.get(identity) ?? []).filter((atMs) => nowMs - atMs < WITHIN_MS);
    if (recent.length >= MOST_CORRECTIONS) return false;
    this.#times.set(identity, [...recent, nowMs]);
    return true;
  }

  async #attempt({ project, object, details, superseded }: Drift, signal: AbortSignal): Promise<void> {
    const { client, config, clock, expectations, report } = this.#options;
    const { deploy, agent } = config.current;
    const { field_manager: fieldManager } = deploy;
    for (let attempt = 1; object.intent !== null && !signal.aborted && !superseded(); attempt += 1) {
      try {
        // On each attempt: an autoscaler's workload may have been restored just before it.
        const intent = await withLiveOwner(client, object.intent, agent.key_prefix, signal);
        const { object: live } = await client.apply(intent, { fieldManager, force: true, signal });
        object.owned = ownedFields(live.metadata, fieldManager);
        object.resourceVersion = live.metadata.resourceVersion ?? '';
        object.told = '';
        const { uid } = live.metadata;
        if (details['change'] === 'deleted' && uid !== undefined) object.putBackUid = uid;
        await expectations.save(project);
        const resource = `${object.kind.toLowerCase()}/${object.name}`;
        report({ type: 'drift_corrected', namespace: object.namespace ?? '', resource, details });
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (attempt >= ATTEMPTS) throw error;
        await pause(clock, FIRST_PAUSE_MS * 2 ** attempt, signal);
      }
    }
  }
}
