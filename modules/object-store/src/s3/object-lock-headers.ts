import type { PolicyAction } from '../domain/access/policy/known-actions.ts';
import type { OutgoingHttpHeaders } from 'node:http';
import { computeDefaultRetention, isRetentionMode, parseObjectLockDocument } from '../domain/object-lock.ts';
import { storeErrors } from '../errors.ts';
import type { BucketRecord, ObjectAttributes, ObjectRetention } from '../domain/ports/records.ts';
import { mayAlso } from './access/authorize.ts';
import type { RequestHeaders } from './request-headers.ts';
import type { BucketContext, ObjectContext } from './s3-context.ts';

const MODE = 'x-amz-object-lock-mode';
const UNTIL = 'x-amz-object-lock-retain-until-date';
const HOLD = 'x-amz-object-lock-legal-hold';

type Locks = Pick<ObjectAttributes, 'retention' | 'legalHold'>;

/**
 * The lock of a new version: from its headers, else the bucket's default. Throws `AccessDenied` if the caller sends
 * lock headers but may not configure the bucket: they could lock forever, or for less than the bucket requires.
 */
export async function readObjectLock(context: ObjectContext): Promise<Locks> {
  const { headers } = context.request;
  const bucket = context.bucket;
  const { services } = context;
  const hold = headers.get(HOLD);
  const asked = asksForLock(headers);
  const configuration = await services.configurations.of(bucket);
  const document = configuration.parsed('object-lock', parseObjectLockDocument);
  const nowMs = services.deps.clock.nowMs();
  const requested = readRetention(headers.get(MODE), headers.get(UNTIL), nowMs);
  if (hold !== undefined && hold !== 'ON' && hold !== 'OFF') {
    throw invalid("Legal Hold must be either of 'ON' or 'OFF'", HOLD, hold);
  }
  if (document === null) {
    if (asked) throw storeErrors.InvalidRequest({ details: { reason: 'Bucket is missing ObjectLockConfiguration' } });
    return {};
  }
  if (requested !== null) assertMayLock(context, 's3:PutObjectRetention');
  if (hold !== undefined) assertMayLock(context, 's3:PutObjectLegalHold');
  const retention = requested ?? computeDefaultRetention(document, nowMs);
  return {
    ...(retention === null ? {} : { retention }),
    ...(hold === undefined ? {} : { legalHold: hold === 'ON' }),
  };
}

function assertMayLock(context: ObjectContext, action: PolicyAction): void {
  if (mayAlso(context.access, action, 'bucket:update', { key: context.key })) return;
  const reason = 'Retention and legal holds require a key with admin permission';
  throw storeErrors.AccessDenied({ details: { reason } });
}

/** Whether the request has headers that set the object's lock. */
export function asksForLock(headers: RequestHeaders): boolean {
  return [MODE, UNTIL, HOLD].some((name) => headers.has(name));
}

export function objectLockHeaders({ retention, legalHold }: Locks): OutgoingHttpHeaders {
  return {
    ...(retention === undefined ? {} : { [MODE]: retention.mode, [UNTIL]: new Date(retention.untilMs).toISOString() }),
    ...(legalHold === undefined ? {} : { [HOLD]: legalHold ? 'ON' : 'OFF' }),
  };
}

export function asksForBypass(headers: RequestHeaders): boolean {
  return headers.get('x-amz-bypass-governance-retention')?.toLowerCase() === 'true';
}

/** Whether the header asks to bypass governance and the caller may. Requires an admin key. */
export function mayBypassGovernance(context: BucketContext, name: { key: string; versionId?: string }): boolean {
  const asked = asksForBypass(context.request.headers);
  return asked && mayAlso(context.access, 's3:BypassGovernanceRetention', 'bucket:update', name);
}

/** Throws `InvalidRequest` for a bucket without Object Lock. */
export async function assertLockable(context: BucketContext, bucket: BucketRecord): Promise<void> {
  const configuration = await context.services.configurations.of(bucket);
  if (configuration.text('object-lock') === null) throw notLockable();
}

function readRetention(mode: string | undefined, until: string | undefined, nowMs: number): ObjectRetention | null {
  if (mode === undefined && until === undefined) return null;
  if (mode === undefined || until === undefined) {
    throw invalid(`${UNTIL} and ${MODE} must both be supplied.`, mode === undefined ? MODE : UNTIL, '');
  }
  if (!isRetentionMode(mode)) throw invalid('Unknown wormMode directive.', MODE, mode);
  const untilMs = parseRetainUntil(until);
  if (untilMs === null) throw invalid('The retain until date must be provided in ISO 8601 format', UNTIL, until);
  if (untilMs <= nowMs) throw invalid('The retain until date must be in the future!', UNTIL, until);
  return { mode, untilMs };
}

/** Parses an ISO 8601 date with time zone. Null for anything else. */
export function parseRetainUntil(text: string): number | null {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:?\d\d)$/.test(text)) return null;
  const timeMs = Date.parse(text);
  return Number.isNaN(timeMs) ? null : timeMs;
}

function notLockable(): Error {
  return storeErrors.InvalidRequest({ details: { reason: 'Bucket is missing Object Lock Configuration' } });
}

function invalid(reason: string, argumentName: string, argumentValue: string): Error {
  const details = { reason, argumentName, argumentValue: argumentValue.slice(0, 100) };
  return storeErrors.InvalidArgument({ details });
}
