import type { KeyObject } from 'node:crypto';
import type { AuditRecord } from '../records.ts';
import type { AuditChainStore, AuditStores } from '../stores.ts';
import { linkMac, LOST, ORIGIN, sameMac, sealEnd, type ChainEndName, type ChainPoint } from './audit-link.ts';
import { addPurge, parsePurged } from './purged-rows.ts';

export type UnlinkedRecord = Omit<AuditRecord, 'sequence' | 'mac'>;

/** Maximum number of records linked in one transaction: those that arrived while the previous one was being written. */
const MOST_TOGETHER = 256;
/** Unlinked rows from before the chain that one transaction links. */
const ADOPTED_TOGETHER = 500;

export interface PurgeRequest {
  /** Removes only older records. ISO 8601 UTC. */
  before: string;
  limit: number;
  purgedAt: string;
  /** The retention rule, recorded for later verification. */
  rule: string;
}

export interface PurgeOutcome {
  removed: number;
  /** The first old record that fails verification: it stays, with all records after it. Null if all verify. */
  brokenAt: number | null;
}

const NOTHING_PURGED: PurgeOutcome = { removed: 0, brokenAt: null };

interface Waiting {
  record: UnlinkedRecord;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Appends to the audit log as one chain across all replicas: locks the row of the chain's head, links the records after
 * it, and moves the head in the same transaction. Records that arrive meanwhile share the next transaction.
 */
export class AuditChain {
  readonly #stores: AuditStores;
  readonly #key: KeyObject;
  #waiting: Waiting[] = [];
  #writing = false;

  constructor(stores: AuditStores, key: KeyObject) {
    this.#stores = stores;
    this.#key = key;
  }

  /** Starts the chain with the existing log, unless it has a head. Call only before the log has begun. */
  async begin(): Promise<void> {
    for (;;) {
      const done = await this.#stores.transactAudit(async (chain) => {
        if ((await chain.lockHead()) !== null) return true;
        const start = (await chain.lastLinked()) ?? ORIGIN;
        const rows = await chain.rowsAfter(start.sequence, ADOPTED_TOGETHER);
        let last = start;
        for (const row of rows) {
          last = { sequence: row.sequence, mac: linkMac(this.#key, last.mac, row) };
          await chain.setMac(last);
        }
        if (rows.length === ADOPTED_TOGETHER) return false;
        await this.#seal(chain, 'checkpoint', ORIGIN);
        await this.#seal(chain, 'head', last);
        return true;
      });
      if (done) return;
    }
  }

  /** Resolves when the record is linked and on disk. */
  append(record: UnlinkedRecord): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ record, resolve, reject });
      if (!this.#writing) void this.#write();
    });
  }

  /**
   * Removes at most `limit` of the oldest records that are older than `before`, and records where the log now begins.
   * Removes only records that verify: otherwise a purge would hide changed or missing rows.
   */
  async purge({ before, limit, purgedAt, rule }: PurgeRequest): Promise<PurgeOutcome> {
    return await this.#stores.transactAudit(async (chain) => {
      if ((await chain.lockHead()) === null) return NOTHING_PURGED;
      const rows = await chain.rowsAfter(Number.MIN_SAFE_INTEGER, limit);
      const keptFrom = rows.findIndex(({ occurredAt }) => occurredAt >= before);
      const old = keptFrom < 0 ? rows : rows.slice(0, keptFrom);
      const [first] = old;
      if (first === undefined) return NOTHING_PURGED;
      const start = await chain.end('checkpoint');
      if (start === null || !sameMac(start.seal, sealEnd(this.#key, 'checkpoint', start))) {
        return { removed: 0, brokenAt: first.sequence };
      }
      const sound = this.#soundRows(start, old);
      const brokenAt = old[sound.length]?.sequence ?? null;
      const last = sound.at(-1);
      if (last === undefined || last.mac === null) return { removed: 0, brokenAt };
      const purged = JSON.stringify(addPurge(parsePurged(start.purged), sound, { purgedAt, rule }));
      await chain.deleteThrough(last.sequence);
      await this.#seal(chain, 'checkpoint', { sequence: last.sequence, mac: last.mac }, purged);
      return { removed: sound.length, brokenAt };
    });
  }

  /** The longest prefix of rows that form an intact chain. */
  #soundRows(start: ChainPoint, rows: readonly AuditRecord[]): readonly AuditRecord[] {
    let last = start;
    const broken = rows.findIndex((row) => {
      const { sequence, mac } = row;
      if (sequence <= last.sequence || mac === null || !sameMac(mac, linkMac(this.#key, last.mac, row))) return true;
      last = { sequence, mac };
      return false;
    });
    return broken < 0 ? rows : rows.slice(0, broken);
  }

  /** Runs one transaction after another until no record is waiting. */
  async #write(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const together = this.#waiting.splice(0, MOST_TOGETHER);
      // Retry one by one, so that a record the database rejects does not fail the others in its batch.
      if (!(await this.#settle(together)) && together.length > 1)
        for (const each of together) await this.#settle([each]);
    }
    this.#writing = false;
  }

  /** Returns false if nothing was written and the waiting callers have not been notified. */
  async #settle(together: readonly Waiting[]): Promise<boolean> {
    try {
      await this.#append(together.map(({ record }) => record));
      for (const { resolve } of together) resolve();
      return true;
    } catch (error) {
      if (together.length === 1) together[0]?.reject(error);
      return false;
    }
  }

  async #append(records: readonly UnlinkedRecord[]): Promise<void> {
    await this.#stores.extendAudit(records.length, (before, sequences) => {
      let last: ChainPoint = before ?? LOST;
      const linked = records.map((record, index) => {
        const row = { ...record, sequence: sequences[index] ?? 0 };
        last = { sequence: row.sequence, mac: linkMac(this.#key, last.mac, row) };
        return { ...row, mac: last.mac };
      });
      const head = { ...last, purged: null };
      return { records: linked, head: { ...head, seal: sealEnd(this.#key, 'head', head) } };
    });
  }

  async #seal(
    chain: AuditChainStore,
    name: ChainEndName,
    { sequence, mac }: ChainPoint,
    purged: string | null = null,
  ): Promise<void> {
    const end = { sequence, mac, purged };
    await chain.setEnd(name, { ...end, seal: sealEnd(this.#key, name, end) });
  }
}
