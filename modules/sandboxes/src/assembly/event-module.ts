import type { HttpApp } from '@svc/http';
import type { Clock } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import type { Kysely } from 'kysely';
import type { SandboxesConfig } from '../config.ts';
import type { SandboxRepository } from '../domain/ports.ts';
import type { SandboxService } from '../domain/sandbox-service.ts';
import type { EventLog } from '../domain/events/event-log.ts';
import { EventFeed } from '../domain/events/event-feed.ts';
import { EventRecorder } from '../domain/events/event-recorder.ts';
import { EventUpkeep } from '../domain/events/event-upkeep.ts';
import { registerEventRoutes, registerWorkspaceEventRoutes } from '../routes/event-routes.ts';
import { createEventLog } from '../store/event-log.ts';
import type { SandboxTables } from '../store/tables.ts';
import { followReplicas, type ReplicaEventsOptions } from './replica-events.ts';

export interface EventPart {
  readonly recorder: EventRecorder;
  readonly log: EventLog;
  /** Records that a sandbox tried to reach a host outside its allowlist. */
  refused(repository: Pick<SandboxRepository, 'find'>, sandboxId: string, host: string): void;
  registerRoutes(app: HttpApp, prefixes: readonly string[], service: SandboxService): void;
  /** Wakes streams and waiting callers when something changes, at this or another replica. */
  follow(sources: Pick<ReplicaEventsOptions, 'events' | 'watch' | 'repository'>): void;
  start(): void;
  /** Ends all streams. */
  endStreams(): void;
  /** Writes pending events. */
  close(): Promise<void>;
}

/** The event log, its subscribers and its pruning. */
export function createEventPart(
  kysely: Kysely<SandboxTables>,
  clock: Clock,
  log: Logger,
  config: SandboxesConfig['events'],
): EventPart {
  const events = createEventLog(kysely);
  const feed = new EventFeed({ log: events, clock, maxStreams: config.max_streams });
  const recorder = new EventRecorder(events, clock, log);
  let stopFollowing = (): Promise<void> => Promise.resolve();
  const upkeep = new EventUpkeep(events, clock, log, config);
  return {
    recorder,
    log: events,
    refused(repository, sandboxId, host) {
      repository.find(sandboxId).then(
        (sandbox) => {
          if (sandbox !== null) recorder.record(sandbox, { type: 'egress_refused', details: { host } });
        },
        (error: unknown) => log.warn({ err: error, sandbox: sandboxId }, 'a refused host could not be reported'),
      );
    },
    registerRoutes(app, prefixes, service) {
      for (const prefix of prefixes) registerEventRoutes(app, { prefix, service, feed, events });
      registerWorkspaceEventRoutes(app, { service, feed, events });
    },
    follow: (sources) => {
      const onError = (err: unknown): void => log.error({ err }, 'a changed sandbox could not be read');
      stopFollowing = followReplicas({ ...sources, feed, onError });
    },
    start: () => upkeep.start(),
    endStreams: () => feed.close(),
    async close() {
      await stopFollowing();
      await upkeep.close();
      await recorder.close();
    },
  };
}
