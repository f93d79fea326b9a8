import type { KeyObject } from 'node:crypto';
import type { AuditRecord } from '../records.ts';
import type { AuditStores } from '../stores.ts';
import { linkMac, ORIGIN, sameMac, sealEnd, type ChainEnd, type ChainEndName, type ChainPoint } from './audit-link.ts';
import { parsePurged, type PurgedRows } from './purged-rows.ts';

const PAGE = 1_000;
const MOST_BREAKS = 100;

export type BreakReason = keyof typeof BREAK_REASONS;

/** Kinds of damage, described for the operator. */
export const BREAK_REASONS = {
  row_broken: 'the row was changed or moved, or rows before it were removed',
  row_unlinked: 'the row was not written by the platform',
  row_outside: 'the row is in a purged range or after the end of the log',
  tail_missing: 'rows at the end of the log were removed',
  head_broken: 'the record of where the log ends was changed or removed',
  checkpoint_broken: 'the record of where the log begins was changed or removed',
  anchor_missed: 'the row differs from the one at this position when the head was recorded',
} as const;

export interface ChainBreak {
  /** The row that does not match; 0 for an end of the chain. */
  sequence: number;
  reason: BreakReason;
}

export interface ChainReport {
  holds: boolean;
  rows: number;
  /** Kept elsewhere, it later proves that no record up to here was removed or rolled back. */
  head: ChainPoint | null;
  /** What retention removed, according to the sealed record; null if there is none or it is not genuine. */
  purged: PurgedRows | null;
  /** The first hundred. */
  breaks: readonly ChainBreak[];
}

/**
 * Reads the whole log in one consistent snapshot and recomputes every link. `anchor` is a head recorded earlier; the
 * chain must pass through it unless a purge has since removed that row.
 */
export async function verifyChain(stores: AuditStores, key: KeyObject, anchor?: ChainPoint): Promise<ChainReport> {
  return await stores.readAudit(async (chain) => {
    const walk = new ChainWalk(key);
    const checkpoint = walk.end('checkpoint', await chain.end('checkpoint'));
    const head = walk.end('head', await chain.end('head'));
    walk.begin(checkpoint ?? ORIGIN, anchor);
    let rows = 0;
    for (let after = Number.MIN_SAFE_INTEGER; ;) {
      const page = await chain.rowsAfter(after, PAGE);
      for (const row of page) walk.pass(row, head);
      rows += page.length;
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) break;
      after = last.sequence;
    }
    walk.finish(head);
    const purged = parsePurged(checkpoint?.purged ?? null);
    return { holds: walk.breaks.length === 0, rows, head: pointOf(head), purged, breaks: walk.breaks };
  });
}

class ChainWalk {
  readonly breaks: ChainBreak[] = [];
  readonly #key: KeyObject;
  /** The previous row as stored, so that a break is reported once and not for every later row. */
  #last: ChainPoint = ORIGIN;
  /** The last valid row: a row inserted after it does not invalidate the next one. */
  #trusted: ChainPoint = ORIGIN;
  #start: ChainPoint = ORIGIN;
  #anchor: ChainPoint | null = null;

  constructor(key: KeyObject) {
    this.#key = key;
  }

  end(name: ChainEndName, end: ChainEnd | null): ChainEnd | null {
    if (end !== null && sameMac(end.seal, sealEnd(this.#key, name, end))) return end;
    this.#note(0, `${name}_broken`);
    return null;
  }

  begin(start: ChainPoint, anchor: ChainPoint | undefined): void {
    this.#start = start;
    this.#last = start;
    this.#trusted = start;
    this.#anchor = anchor === undefined || anchor.sequence <= start.sequence ? null : anchor;
  }

  pass(row: AuditRecord, head: ChainPoint | null): void {
    const { sequence, mac } = row;
    if (sequence <= this.#start.sequence || (head !== null && sequence > head.sequence)) {
      this.#note(sequence, 'row_outside');
      return;
    }
    if (mac === null) {
      this.#note(sequence, 'row_unlinked');
      return;
    }
    const fits = [this.#last, this.#trusted].some(({ mac: before }) => sameMac(mac, linkMac(this.#key, before, row)));
    if (fits) this.#trusted = { sequence, mac };
    else this.#note(sequence, 'row_broken');
    this.#last = { sequence, mac };
    if (this.#anchor?.sequence === sequence && fits && sameMac(mac, this.#anchor.mac)) this.#anchor = null;
  }

  finish(head: ChainPoint | null): void {
    if (head !== null && head.sequence > this.#last.sequence) this.#note(head.sequence, 'tail_missing');
    else if (head !== null && head.mac !== this.#last.mac) this.#note(head.sequence, 'row_broken');
    if (this.#anchor !== null) this.#note(this.#anchor.sequence, 'anchor_missed');
  }

  #note(sequence: number, reason: BreakReason): void {
    if (this.breaks.length < MOST_BREAKS) this.breaks.push({ sequence, reason });
  }
}

function pointOf(end: ChainEnd | null): ChainPoint | null {
  return end === null ? null : { sequence: end.sequence, mac: end.mac };
}
