import type { KeyObject } from 'node:crypto';
import type { AuditRecord } from '../records.ts';
import type { AuditChainStore, AuditStores } from '../stores.ts';
import { linkMac, LOST, ORIGIN, sameMac, sealEnd, type ChainEndName, type ChainPoint } from './audit-link.ts';
import { addPurge, parsePurged } from './purged-rows.ts';

export type UnlinkedRecord = Omit<AuditRecord, 'sequence' | 'mac'>;

/** Records that one transaction links: those that came while the one before was on its way to the disk. */
const MOST_TOGETHER = 256;
/** Rows of before the chain that one transaction links. */
const ADOPTED_TOGETHER = 500;

export interface PurgeRequest {
  /** Only records that are older go. ISO 8601 UTC. */
  before: string;
  limit: number;
  purgedAt: string;
  /** By which they go, for whoever verifies the rest. */
  rule: string;
}

export interface PurgeOutcome {
  removed: number;
  /** The first of the old records that does not verify: it stays, with all behind it. Null where all do. */
  brokenAt: number | null;
}

const NOTHING_PURGED: PurgeOutcome = { removed: 0, brokenAt: null };

interface Waiting {
  record: UnlinkedRecord;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Appends to the audit log as one chain for all replicas: the row of the chain's head is locked, the records are linked
 * behind it, and the head moves in the same transaction. What comes meanwhile waits for the next one and shares it.
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

  /** Begins the chain with what is in the log already, unless it has a head. To be called only before the log has begun. */
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

  /** Resolves when the record is on disk and linked. */
  append(record: UnlinkedRecord): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ record, resolve, reject });
      if (!this.#writing) void this.#write();
    });
  }

  /**
   * Removes at most `limit` of the oldest records, as long as they are older than `before`, and notes it where the log
   * now begins. Only what verifies goes: a purge would hide whoever changed the rows, or removed some before them.
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

  /** The rows from the first on that follow one another. */
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

  /** One transaction after the other until nobody waits. */
  async #write(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const together = this.#waiting.splice(0, MOST_TOGETHER);
      // One that the database refuses is refused alone, not with those that happened to come with it.
      if (!(await this.#settle(together)) && together.length > 1)
        for (const each of together) await this.#settle([each]);
    }
    this.#writing = false;
  }

  /** False when nothing was written, and those who wait do not know it yet. */
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
    await this.#stores.transactAudit(async (chain) => {
      let last: ChainPoint = (await chain.lockHead()) ?? LOST;
      const sequences = await chain.nextSequences(records.length);
      const linked = records.map((record, index) => {
        const row = { ...record, sequence: sequences[index] ?? 0 };
        last = { sequence: row.sequence, mac: linkMac(this.#key, last.mac, row) };
        return { ...row, mac: last.mac };
      });
      await chain.insert(linked);
      await this.#seal(chain, 'head', last);
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
