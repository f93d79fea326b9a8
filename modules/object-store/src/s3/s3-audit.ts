import type { Action, AuditEntry, AuditLog, Principal } from '@svc/access';
import { RateLimiter } from '@svc/http';
import type { Clock } from '@svc/runtime';
import type { Logger, Metrics } from '@svc/telemetry';
import type { Caller } from '../domain/caller.ts';
import type { MetadataStore } from '../domain/ports/metadata-store.ts';
import type { AccessKeyRecord, BucketRecord } from '../domain/ports/records.ts';
import type { S3Request } from './s3-request.ts';

/** The audit entry for a request, successful or refused. */
export interface AuditedChange {
  action: Action;
  resource: string;
  details: Record<string, unknown>;
}

export interface S3AuditOptions {
  audit: AuditLog;
  metadata: Pick<MetadataStore, 'touchAccessKeys'>;
  log: Logger;
  metrics: Metrics;
  clock: Clock;
}

/** Refusals that one key may write. Successes need the right to change something, and are all written. */
const REFUSALS = { perMinute: 10, burst: 30 };
const MAX_REMEMBERED_KEYS = 10_000;

/** The caller of a change, and the bucket it affects. */
export interface AuditedRequest {
  caller: Caller;
  request: S3Request;
  /** Null if the request was refused before its bucket was found, and for a new bucket. */
  bucket: Pick<BucketRecord, 'workspaceUuid'> | null;
}

/**
 * Writes changes through the S3 plane to the audit log of the caller's workspace and, if the bucket belongs to another
 * workspace, to that one's log too. Refusals of outsiders are not written there: they changed nothing, and must not be
 * able to fill the log of a bucket that they only know by name.
 */
export class S3Audit {
  readonly #options: S3AuditOptions;
  readonly #refusals: RateLimiter;
  readonly #firstUses = new Map<string, Promise<void>>();
  readonly #suppressed;

  constructor(options: S3AuditOptions) {
    this.#options = options;
    this.#refusals = new RateLimiter(REFUSALS, () => options.clock.nowMs(), { maxKeys: MAX_REMEMBERED_KEYS });
    this.#suppressed = options.metrics.counter(
      'svc_s3_audit_suppressed_total',
      'Refused S3 requests that were left out of the audit log because their key had too many',
    );
  }

  /** Never throws: the change has been made, so reporting a failure would be wrong. */
  async record(change: AuditedChange, { caller, request, bucket }: AuditedRequest, status: number): Promise<void> {
    const line = { ...change, ...resultOf(status), remoteAddress: request.remoteAddress, requestId: request.requestId };
    const { workspaceUuid } = caller;
    const principal = principalBehind(caller);
    if (principal !== null && this.#admits(caller, status)) await this.#write({ ...line, principal, workspaceUuid });
    if (bucket === null || bucket.workspaceUuid === workspaceUuid || line.outcome === 'refused') return;
    await this.#write({
      ...line,
      principal: asOthersSee(principal, caller),
      workspaceUuid: bucket.workspaceUuid,
      details: { ...change.details, caller_workspace: workspaceUuid },
    });
  }

  /**
   * Records the first use of a key before its first response. Replicas that see the first request at once may each
   * record it.
   */
  async noteFirstUse(key: AccessKeyRecord, caller: Caller, request: S3Request): Promise<void> {
    const { accessKeyId, lastUsedAtMs } = key;
    if (lastUsedAtMs !== null) return;
    const known = this.#firstUses.get(accessKeyId);
    if (known !== undefined) return await known;
    const noted = this.#writeFirstUse(accessKeyId, caller, request);
    this.#firstUses.set(accessKeyId, noted);
    const oldest = this.#firstUses.size > MAX_REMEMBERED_KEYS ? this.#firstUses.keys().next() : null;
    if (oldest !== null && oldest.done !== true) this.#firstUses.delete(oldest.value);
    await noted;
  }

  async #writeFirstUse(accessKeyId: string, caller: Caller, request: S3Request): Promise<void> {
    const { metadata, clock, log } = this.#options;
    const change = { action: 'key:use', resource: `key/${accessKeyId}`, details: {} } as const;
    await this.record(change, { caller, request, bucket: null }, 200);
    try {
      await metadata.touchAccessKeys({ usedAtMs: { [accessKeyId]: clock.nowMs() } });
    } catch (error) {
      log.error({ err: error }, 'the first use of an access key could not be recorded');
    }
  }

  /** Admits all successes, which need the right to change something. Refusals are limited per key. */
  #admits({ accessKeyId }: Caller, status: number): boolean {
    if (status < 400 || this.#refusals.take(accessKeyId ?? '').allowed) return true;
    this.#suppressed.inc();
    return false;
  }

  async #write(entry: AuditEntry): Promise<void> {
    try {
      await this.#options.audit.record(entry);
    } catch (error) {
      this.#options.log.error({ err: error, action: entry.action }, 'the audit entry could not be written');
    }
  }
}

function resultOf(status: number): Pick<AuditEntry, 'outcome' | 'status'> {
  return { outcome: status < 400 ? 'success' : status < 500 ? 'refused' : 'failed', status };
}

function principalBehind({ maker, accessKeyId }: Caller): Principal | null {
  if (maker === null) return null;
  const { kind, principalId: id, name } = maker;
  return {
    kind,
    id,
    name: name === '' ? id : name,
    credential: 'access_key',
    credentialId: accessKeyId,
    expiresAt: null,
  };
}

/** Another workspace sees the key and its workspace, but not the name or e-mail of the key's creator. */
function asOthersSee(principal: Principal | null, { workspaceUuid }: Caller): Principal | null {
  return principal === null ? null : { ...principal, name: `workspace/${workspaceUuid}` };
}

/** Longer ids name no version, and could fill the audit entry. */
export const MAX_VERSION_ID_LENGTH = 100;
