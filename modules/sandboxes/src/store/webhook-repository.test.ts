import { migrations } from '@svc/migrations';
import { migrate, type Database } from '@svc/sql';
import { describeDialects } from '@svc/testing';
import { unlimitedQuotas } from '@svc/quotas';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SandboxWebhook, WebhookDelivery } from '../domain/webhooks/webhook.ts';
import type { SandboxTables } from './tables.ts';
import { createWebhookRepository } from './webhook-repository.ts';
import { writeEvents } from './event-log.ts';

const AT = '2026-01-01T00:00:00.000Z';
const SEALED = { wrapper: 'local/1', text: 'box' };
