import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '@svc/telemetry';
import { SEALED_KINDS, type RowKey, type SealedKind, type SealedRow } from '../ports/key-ring.ts';
import type { MetadataStore } from '../ports/metadata-store.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { sealedTexts, withSealedTexts } from './sealed-bodies.ts';

const LEASE = 'key-rotation';
const LEASE_MS = 60_000;
const PROPERTY = 'key-rotation';
const POLL_MS = 5_000;
/** Rows that one transaction replaces: other writers wait for no more than this. */
const BATCH = 100;

export interface KeyRotationDeps {
  metadata: MetadataStore;
  secrets: KeyRing;
  /** Different from that of every other process on the same database. */
  holder: string;
  log: Logger;
  now: () => number;
}

export interface RotationReport {
  /** False when another process is at it, or nothing is to be done. */
  ran: boolean;
  resealed: number;
  /** Keys that went. */
  removed: number;
}

/**
 * Where a rotation stands. `reseal`: rows are sealed again under the newest key. `verify`: older keys are closed, every
 * transaction that did not know has ended, and all rows are read once more: what this pass leaves clean needs none of them.
 */
interface Position {
  target: number;
  phase: 'reseal' | 'verify';
  kind: SealedKind;
  after: RowKey | null;
  /** Something in this pass was changed by others at the same time. */
  missed: boolean;
}

/**
 * Seals again, under the newest key of the ring, whatever is sealed under an older one, then removes the older ones. Rows
 * alone are rewritten. It goes on where it stopped, however it was stopped; one process at a time has the lease.
 */
export class KeyRotation {
  readonly #deps: KeyRotationDeps;

  constructor(deps: KeyRotationDeps) {
    this.#deps = deps;
  }

  /** Until the signal. A round that fails is logged, and the next one goes on. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.round(signal);
      } catch (error) {
        this.#deps.log.error({ err: error }, 'the rotation of keys is interrupted; it goes on by itself');
      }
      await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Everything that is to be done now. */
  async round(signal: AbortSignal): Promise<RotationReport> {
    const report: RotationReport = { ran: false, resealed: 0, removed: 0 };
    const { metadata, secrets, holder, log } = this.#deps;
    if ((await secrets.refresh()).length < 2 || !(await this.#keepLease())) return report;
    report.ran = true;
    try {
      let position = await this.#position();
      while (!signal.aborted && position !== null) position = await this.#step(position, report);
      if (report.resealed > 0 || report.removed > 0) log.info({ ...report }, 'keys were rotated');
    } finally {
      await metadata.releaseLease({ name: LEASE, holder });
    }
    return report;
  }

  /** One page of rows. Null when the rotation is done, or the lease is lost. */
  async #step(position: Position, report: RotationReport): Promise<Position | null> {
    if (!(await this.#keepLease())) return null;
    const { metadata, secrets } = this.#deps;
    if ((await secrets.refresh()).at(-1)?.id !== position.target) return await this.#position();
    const { kind, after } = position;
    const rows = await metadata.sealedRows({ kind, after, limit: BATCH });
    const missed = (await this.#reseal(kind, rows, report)) || position.missed;
    const last = rows.at(-1);
    if (last !== undefined && rows.length === BATCH) {
      return await this.#save({ ...position, after: last.key, missed });
    }
    const next = SEALED_KINDS[SEALED_KINDS.indexOf(kind) + 1];
    if (next !== undefined) return await this.#save({ ...position, kind: next, after: null, missed });
    return await this.#passed({ ...position, missed }, report);
  }

  /** True when a row was changed by others meanwhile: it is seen again in the next pass. */
  async #reseal(kind: SealedKind, rows: readonly SealedRow[], report: RotationReport): Promise<boolean> {
    const { metadata, secrets, now } = this.#deps;
    const changes: { key: RowKey; from: string; to: string }[] = [];
    for (const row of rows) {
      const replaced = new Map<string, string>();
      for (const { sealed, context } of sealedTexts(kind, row)) {
        const fresh = await secrets.reseal(sealed, context);
        if (fresh !== null) replaced.set(sealed, fresh);
      }
      if (replaced.size > 0) changes.push({ key: row.key, from: row.body, to: withSealedTexts(row.body, replaced) });
    }
    if (changes.length === 0) return false;
    const count = await metadata.replaceSealed({ kind, rows: changes, nowMs: now() });
    report.resealed += count;
    return count < changes.length;
  }

  /** All rows were seen. */
  async #passed(position: Position, report: RotationReport): Promise<Position | null> {
    const { metadata, secrets } = this.#deps;
    const { target } = position;
    if (position.phase === 'verify' && !position.missed) {
      report.removed += (await secrets.refresh()).filter(({ id }) => id < target).length;
      await metadata.removeStoreKeys({ below: target });
      await metadata.setStoreProperty({ name: PROPERTY, value: '' });
      await secrets.refresh();
      return null;
    }
    await metadata.closeStoreKeys({ below: target });
    await metadata.settle();
    return await this.#save({ ...start(target), phase: 'verify' });
  }

  async #position(): Promise<Position | null> {
    const { metadata, secrets } = this.#deps;
    const keys = await secrets.refresh();
    const target = keys.at(-1)?.id;
    if (target === undefined || keys.length < 2) return null;
    const stored = await metadata.storeProperty({ name: PROPERTY });
    if (stored === null || stored === '') return start(target);
    const position = JSON.parse(stored) as Position; // written below
    return position.target === target ? position : start(target);
  }

  async #save(position: Position): Promise<Position> {
    await this.#deps.metadata.setStoreProperty({ name: PROPERTY, value: JSON.stringify(position) });
    return position;
  }

  async #keepLease(): Promise<boolean> {
    const { metadata, holder, now } = this.#deps;
    return await metadata.takeLease({ name: LEASE, holder, nowMs: now(), untilMs: now() + LEASE_MS });
  }
}

function start(target: number): Position {
  return { target, phase: 'reseal', kind: SEALED_KINDS[0], after: null, missed: false };
}
