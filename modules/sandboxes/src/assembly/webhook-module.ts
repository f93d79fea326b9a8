import type { Kysely } from 'kysely';
import type { SandboxContext } from '../domain/context.ts';
import type { EventLog } from '../domain/events/event-log.ts';
import { WebhookDispatcher } from '../domain/webhooks/webhook-dispatcher.ts';
import { WebhookService } from '../domain/webhooks/webhook-service.ts';
import type { SandboxTables } from '../store/tables.ts';
import { createWebhookRepository } from '../store/webhook-repository.ts';
import type { SandboxesDependencies } from './dependencies.ts';

export interface WebhookPart {
  readonly service: WebhookService;
  /** Number of webhooks of the workspace. */
  count(workspaceUuid: string): Promise<number>;
  start(): void;
  close(): Promise<void>;
}

/** Webhooks for events of sandboxes, and their deliveries. */
export function createWebhookPart(
  { webhooks: sender, keyWrapper: sealer, config, log, metrics }: SandboxesDependencies,
  kysely: Kysely<SandboxTables>,
  { clock, random, quotaLimits, node }: SandboxContext,
  events: EventLog,
): WebhookPart {
  const repository = createWebhookRepository(kysely);
  const service = new WebhookService({ repository, log: events, sender, sealer, quotaLimits, clock, random });
  const dispatcher = new WebhookDispatcher({
    repository,
    service,
    events,
    quotaLimits,
    clock,
    random,
    config: config.webhooks,
    log,
    metrics,
    holder: node, // a node has one live process (decision 0039), which takes its leases back after a crash
  });
  return {
    service,
    count: (workspaceUuid) => repository.count(workspaceUuid),
    start: () => dispatcher.start(),
    close: () => dispatcher.close(),
  };
}
