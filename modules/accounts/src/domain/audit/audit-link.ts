import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { AuditRecord } from '../records.ts';

/** A place in the chain: a row, or the end that a purge left. */
export interface ChainPoint {
  sequence: number;
  mac: string;
}

/** What the first row of a log follows. */
export const ORIGIN: ChainPoint = { sequence: 0, mac: '0'.repeat(64) };
/** What a row follows when the head of a log that has begun is gone: it fits nothing, so that the gap is always found. */
export const LOST: ChainPoint = { sequence: 0, mac: 'f'.repeat(64) };

/** One end of the chain as it is kept. */
export interface ChainEnd extends ChainPoint {
  seal: string;
  /** What the retention removed before the checkpoint, as JSON; null at the head, and where nothing is noted. */
  purged: string | null;
}

export type ChainEndName = 'head' | 'checkpoint';

/**
 * The MAC of a row: HMAC-SHA256 over the MAC of the row before and the row in one canonical form, a JSON array of its
 * columns in the order of the table. Who may write the database but has not the key cannot make one.
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

/** Seals one end of the chain, so that rows taken off there are missed. */
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
