import { addressKey } from '@svc/addresses';
import { type Clock, TokenBuckets } from '@svc/runtime';
import { secondsAfter, timestamp } from '../timestamps.ts';
import { type Page, pageOf } from '@svc/runtime';
import { decodeCursor, MAX_PAGE_SIZE, DEFAULT_PAGE_SIZE } from '../paging.ts';
import type { AuditRecord } from '../records.ts';
import type { AuditFilter, AuditStore } from '../stores.ts';
import type { AuditChain } from './audit-chain.ts';

export interface AuditOptions {
  /** Older records are deleted; 0 keeps them forever. */
  retentionDays: number;
}

export interface AuditHooks {
  /** Called when a refusal of an anonymous caller was not recorded. */
  onSuppressed: () => void;
  /** Called when retention stopped at a row that fails verification. */
  onBroken: (sequence: number) => void;
}

export type NewAuditRecord = Omit<AuditRecord, 'sequence' | 'mac' | 'occurredAt' | 'details'> & {
  details: Record<string, unknown>;
};

const MAX_RESOURCE_LENGTH = 500;
const MAX_DETAILS_LENGTH = 4_000;
/** Limit per unauthenticated address, so that refusals cannot fill the disk. Changes are always recorded. */
const ANONYMOUS = { burst: 30, perMinute: 10 };
const MAX_ADDRESSES = 20_000;

/** Append-only record of each action: actor, target, origin and result. */
export class AuditTrail {
  readonly #store: AuditStore;
  readonly #chain: AuditChain;
  readonly #clock: Clock;
  readonly #options: AuditOptions;
  readonly #hooks: AuditHooks;
  readonly #anonymous: TokenBuckets;

  constructor(store: AuditStore, chain: AuditChain, clock: Clock, options: AuditOptions, hooks: AuditHooks) {
    this.#store = store;
    this.#chain = chain;
    this.#clock = clock;
    this.#options = options;
    this.#hooks = hooks;
    this.#anonymous = new TokenBuckets(ANONYMOUS, {
      nowMs: () => clock.nowMs(),
      maxKeys: MAX_ADDRESSES,
    });
  }

  async record(entry: NewAuditRecord): Promise<void> {
    const isStrangers = entry.actorKind === 'anonymous' && entry.outcome !== 'success';
    if (isStrangers && !this.#admit(entry.remoteAddress)) {
      this.#hooks.onSuppressed();
      return;
    }
    const details = storableText(JSON.stringify(entry.details));
    await this.#chain.append({
      ...entry,
      occurredAt: timestamp(this.#clock.now()),
      actorId: storable(entry.actorId),
      actorName: storable(entry.actorName),
      credential: storable(entry.credential),
      credentialId: storable(entry.credentialId),
      action: storableText(entry.action),
      resource: storableText(entry.resource, MAX_RESOURCE_LENGTH),
      workspaceUuid: storable(entry.workspaceUuid),
      remoteAddress: storableText(entry.remoteAddress),
      requestId: storableText(entry.requestId),
      details: details.length > MAX_DETAILS_LENGTH ? '{"truncated":true}' : details,
    });
  }

  /** Newest first. */
  async list(
    filter: AuditFilter,
    query: { page_size?: number | undefined; cursor?: string | undefined },
  ): Promise<Page<AuditRecord>> {
    const limit = Math.min(query.page_size ?? DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
    const before = query.cursor === undefined ? null : parseSequence(query.cursor);
    const rows = await this.#store.list(filter, limit, before);
    return pageOf(rows, limit, (last) => [String(last.sequence)]);
  }

  /** Removes at most `limit` expired records that verify, and returns how many. */
  async purge(limit: number): Promise<number> {
    if (this.#options.retentionDays === 0) return 0;
    const { retentionDays } = this.#options;
    const now = this.#clock.now();
    const { removed, brokenAt } = await this.#chain.purge({
      before: timestamp(secondsAfter(now, -retentionDays * 86_400)),
      limit,
      purgedAt: timestamp(now),
      rule: `accounts.audit_retention_days: ${retentionDays}`,
    });
    if (brokenAt !== null) this.#hooks.onBroken(brokenAt);
    return removed;
  }

  #admit(remoteAddress: string): boolean {
    const key = addressKey(remoteAddress);
    if (this.#anonymous.waitMs(key) > 0) return false;
    this.#anonymous.add(key, -1);
    return true;
  }
}

function storable(text: string | null): string | null {
  return text === null ? null : storableText(text);
}

function parseSequence(cursor: string): number {
  const [text = ''] = decodeCursor(cursor, 1);
  return /^\d{1,15}$/.test(text) ? Number(text) : 0; // before the first record: an empty page
}

/**
 * Normalizes text so that every database returns it unchanged: a lone surrogate has no UTF-8 form, and PostgreSQL
 * rejects NUL. A row's MAC covers the text as written, so a change would look like tampering. Cuts between code points.
 */
function storableText(text: string, maxLength: number = text.length): string {
  const clean = text.replaceAll('\0', '').toWellFormed();
  return clean.slice(0, maxLength).replace(/[\ud800-\udbff]$/, '');
}
