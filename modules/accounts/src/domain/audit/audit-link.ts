import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { AuditRecord } from '../records.ts';

/** A position in the chain: a row, or the end that a purge left. */
export interface ChainPoint {
  sequence: number;
  mac: string;
}

/** Predecessor of the first row of a log. */
export const ORIGIN: ChainPoint = { sequence: 0, mac: '0'.repeat(64) };
/** Predecessor of a row when the head of an existing log is gone: it matches nothing, so the gap is always detected. */
export const LOST: ChainPoint = { sequence: 0, mac: 'f'.repeat(64) };

/** A stored end of the chain. */
export interface ChainEnd extends ChainPoint {
  seal: string;
  /** What retention removed before the checkpoint, as JSON; null at the head, and if nothing is recorded. */
  purged: string | null;
}

export type ChainEndName = 'head' | 'checkpoint';

/**
 * The MAC of a row: HMAC-SHA256 over the previous row's MAC and this row's canonical form, a JSON array of its columns
 * in table order. Write access to the database is not enough to forge one; that takes the key.
 */
export function linkMac(key: KeyObject, before: string, record: Omit<AuditRecord, 'mac'>): string {
  return mac(key, 'row', before, [
    record.sequence,
    record.occurredAt,
    record.actorKind,
    record.actorId,
    record.actorName,
    record.credential,
    record.credentialId,
    record.action,
    record.resource,
    record.workspaceUuid,
    record.outcome,
    record.status,
    record.remoteAddress,
    record.requestId,
    record.details,
  ]);
}

/** Seals one end of the chain, so that removing rows there is detected. */
export function sealEnd(
  key: KeyObject,
  name: ChainEndName,
  { sequence, mac: last, purged }: Omit<ChainEnd, 'seal'>,
): string {
  return mac(key, name, last, purged === null ? [sequence] : [sequence, purged]);
}

export function sameMac(left: string | null, right: string): boolean {
  if (left === null || left.length !== right.length) return false;
  return timingSafeEqual(Buffer.from(left), Buffer.from(right));
}

function mac(key: KeyObject, kind: string, before: string, values: readonly unknown[]): string {
  return createHmac('sha256', key)
    .update(JSON.stringify(['svc audit 1', kind, before, ...values]))
    .digest('hex');
}
