import { BackgroundLoop, type Clock } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import { COPIED_CLOSED_KEY, SEALED_KINDS, type RowKey, type SealedKind, type SealedRow } from '../ports/key-ring.ts';
import type { KeyRingCommands, KeyRingQueries } from '../ports/key-ring.ts';
import type { StorePropertyCommands, StorePropertyQueries } from '../ports/store-properties.ts';
import type { WorkLeaseCommands } from '../ports/work-leases.ts';
import type { MetadataStore } from '../ports/metadata-store.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { WorkLease } from '../work-lease.ts';
import { sealedTexts, withSealedTexts } from './sealed-bodies.ts';

const LEASE = 'key-rotation';
const LEASE_MS = 60_000;
const PROPERTY = 'key-rotation';
const POLL_MS = 5_000;
/** Rows replaced per transaction, which limits how long other writers wait. */
const BATCH = 100;

export interface KeyRotationDeps {
  metadata: KeyRingCommands &
    KeyRingQueries &
    StorePropertyCommands &
    StorePropertyQueries &
    WorkLeaseCommands &
    Pick<MetadataStore, 'settle'>;
  secrets: KeyRing;
  /** Unique among the processes that share the database. */
  holder: string;
  log: Logger;
  clock: Clock;
}

export interface RotationReport {
  /** False if another process is rotating, or there is nothing to do. */
  ran: boolean;
  resealed: number;
  /** Number of keys removed. */
  removed: number;
}

/**
 * Progress of a rotation. `reseal`: rows are resealed under the newest key. `verify`: older keys are closed, every
 * transaction that did not know this has ended, and all rows are read once more; after a clean pass no row needs the
 * older keys.
 */
interface Position {
  target: number;
  phase: 'reseal' | 'verify';
  kind: SealedKind;
  after: RowKey | null;
  /** A row of this pass was changed concurrently. */
  missed: boolean;
}

/**
 * Reseals everything that is sealed under an older key of the ring, then removes the older keys. Rewrites rows only.
 * Resumes after any interruption; a lease limits it to one process at a time.
 */
export class KeyRotation {
  readonly #deps: KeyRotationDeps;
  readonly #lease: WorkLease;

  constructor(deps: KeyRotationDeps) {
    this.#deps = deps;
    const { metadata, holder, clock } = deps;
    this.#lease = new WorkLease({ metadata, name: LEASE, holder, durationMs: LEASE_MS, clock });
  }

  /** Runs until the signal aborts. Logs a failed round and resumes in the next one. */
  async run(signal: AbortSignal): Promise<void> {
    const loop = new BackgroundLoop({
      run: () => this.round(signal),
      intervalMs: POLL_MS,
      runsAtStart: true,
      onError: (err) => this.#deps.log.error({ err }, 'key rotation was interrupted; it resumes automatically'),
    });
    await loop.runUntil(signal);
  }

  /** Does everything that is due now. */
  async round(signal: AbortSignal): Promise<RotationReport> {
    const report: RotationReport = { ran: false, resealed: 0, removed: 0 };
    const { secrets, log } = this.#deps;
    if ((await secrets.refresh()).length < 2 || !(await this.#lease.keep())) return report;
    report.ran = true;
    try {
      let position = await this.#position();
      while (!signal.aborted && position !== null) position = await this.#step(position, report);
      if (report.resealed > 0 || report.removed > 0) log.info({ ...report }, 'keys were rotated');
    } finally {
      await this.#lease.release();
    }
    return report;
  }

  /** Processes one page of rows. Null if the rotation is complete, or the lease is lost. */
  async #step(position: Position, report: RotationReport): Promise<Position | null> {
    if (!(await this.#lease.keep())) return null;
    const { metadata, secrets } = this.#deps;
    if ((await secrets.refresh()).at(-1)?.id !== position.target) return await this.#position();
    const { kind, after } = position;
    if (kind === SEALED_KINDS[0] && after === null) {
      // Forks set it if they copy a row that this pass may be behind of.
      await metadata.setStoreProperty({ name: COPIED_CLOSED_KEY, value: '' });
    }
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

  /** True if a row was changed concurrently. The next pass handles it. */
  async #reseal(kind: SealedKind, rows: readonly SealedRow[], report: RotationReport): Promise<boolean> {
    const { metadata, secrets, clock } = this.#deps;
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
    const count = await metadata.replaceSealed({ kind, rows: changes, nowMs: clock.nowMs() });
    report.resealed += count;
    return count < changes.length;
  }

  /** Ends a pass over all rows. */
  async #passed(position: Position, report: RotationReport): Promise<Position | null> {
    const { metadata, secrets } = this.#deps;
    const { target } = position;
    if (position.phase === 'verify' && !position.missed) {
      const older = (await secrets.refresh()).filter(({ id }) => id < target).length;
      if (!(await metadata.removeStoreKeys({ below: target }))) {
        return await this.#save({ ...start(target), phase: 'verify' });
      }
      report.removed += older;
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
}

function start(target: number): Position {
  return { target, phase: 'reseal', kind: SEALED_KINDS[0], after: null, missed: false };
}
