import type { KeyObject } from 'node:crypto';
import type { AuditRecord } from '../records.ts';
import type { AuditChainStore, AuditStores } from '../stores.ts';
import { linkMac, LOST, ORIGIN, sealEnd, type ChainEndName, type ChainPoint } from './audit-link.ts';

export type UnlinkedRecord = Omit<AuditRecord, 'sequence' | 'mac'>;

/** Records that one transaction links: those that came while the one before was on its way to the disk. */
const MOST_TOGETHER = 256;
/** Rows of before the chain that one transaction links. */
const ADOPTED_TOGETHER = 500;

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

  /** Removes at most `limit` of the oldest records, as long as they are older than `before`; answers how many. */
  async purge(before: string, limit: number): Promise<number> {
    return await this.#stores.transactAudit(async (chain) => {
      if ((await chain.lockHead()) === null) return 0;
      const rows = await chain.rowsAfter(Number.MIN_SAFE_INTEGER, limit);
      const keptFrom = rows.findIndex(({ occurredAt }) => occurredAt >= before);
      const old = keptFrom < 0 ? rows : rows.slice(0, keptFrom);
      const last = old.at(-1);
      if (last === undefined || last.mac === null) return 0; // nothing is old, or it was never linked: `verify-audit` tells of that
      await chain.deleteThrough(last.sequence);
      await this.#seal(chain, 'checkpoint', { sequence: last.sequence, mac: last.mac });
      return old.length;
    });
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

  async #seal(chain: AuditChainStore, name: ChainEndName, point: ChainPoint): Promise<void> {
    await chain.setEnd(name, { ...point, seal: sealEnd(this.#key, name, point) });
  }
}
