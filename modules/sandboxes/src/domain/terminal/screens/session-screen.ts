import type { HelperConnection } from '../../helper/helper-connection.ts';
import type { HelperStream } from '../../helper/helper-stream.ts';
import { parseCount } from '../count-of.ts';
import type { ScreenAnswer, ScreenOrder } from './screen-messages.ts';

const BURST_BYTES = 16 * 1024 * 1024;
const BYTES_IN_A_SECOND = 2 * 1024 * 1024;

/** Limits how much of a session's output is parsed: a burst, then a fixed rate per second under a flood. */
class FeedAllowance {
  readonly #nowMs: () => number;
  #left = BURST_BYTES;
  #atMs: number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#atMs = nowMs();
  }

  /** Returns how many of the bytes are granted now. */
  take(bytes: number): number {
    const nowMs = this.#nowMs();
    const gained = (Math.max(0, nowMs - this.#atMs) / 1000) * BYTES_IN_A_SECOND;
    this.#left = Math.min(BURST_BYTES, this.#left + gained);
    this.#atMs = nowMs;
    const granted = Math.min(bytes, Math.floor(this.#left));
    this.#left -= granted;
    return granted;
  }
}

/** Bytes the helper may send ahead of parsing; a burst of this size is never lost. */
const WINDOW_BYTES = 8 * 1024 * 1024;
const GRANT_EVERY_MS = 500;

/** Output that makes a terminal show a session's screen as it was at an offset. */
export interface Snapshot {
  readonly bytes: Uint8Array;
  readonly offset: number;
  readonly cols: number;
  readonly rows: number;
  /** Whether the screen was made from all of the session's bytes. */
  readonly exact: boolean;
}

export interface SessionScreenOptions {
  readonly number: number;
  readonly connection: HelperConnection;
  readonly session: string;
  readonly nowMs: () => number;
  readonly setTimer: (callback: () => void, delayMs: number) => () => void;
  readonly order: (order: ScreenOrder) => void;
  /** Whether the thread's queue has room for this many more bytes. */
  readonly hasRoom: (bytes: number) => boolean;
  readonly ended: () => void;
}

interface Wish {
  readonly atLeast: number;
  readonly resolve: (snapshot: Snapshot | null) => void;
}

/**
 * Follows one session. Output stays in the sandbox until its ring is half full of unfetched output or a viewer
 * attaches.
 */
export class SessionScreen {
  readonly #options: SessionScreenOptions;
  readonly #stream: HelperStream;
  readonly #allowance: FeedAllowance;
  /** Requested from the helper and not drawn yet. */
  #wishes: Wish[] = [];
  /** Drawings requested from the thread, in order. */
  #drawings: { snapshot: Omit<Snapshot, 'bytes'>; wishes: readonly Wish[] }[] = [];
  #offset = 0;
  #size = { cols: 0, rows: 0 };
  #exact = true;
  #over = false;
  #owedBytes = 0;
  #cancelGrant: (() => void) | null = null;
  /** Bytes fetched and not parsed yet. */
  waitingBytes = 0;

  constructor(options: SessionScreenOptions) {
    this.#options = options;
    this.#allowance = new FeedAllowance(options.nowMs);
    const { connection, session } = options;
    this.#stream = connection.start(
      { op: 'session.screen', session, since: 0 },
      { windowBytes: WINDOW_BYTES, data: (bytes) => this.#feed(bytes), event: (event) => this.#handleEvent(event) },
    );
    void this.#stream.outcome.then(() => this.end());
  }

  get session(): string {
    return this.#options.session;
  }

  /** The screen at `atLeast` or later; null if none is available. */
  snapshot(atLeast: number): Promise<Snapshot | null> {
    if (this.#over) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.#wishes.push({ atLeast, resolve });
      this.#ask();
    });
  }

  answered(answer: ScreenAnswer): void {
    if (answer.kind === 'refused') this.end();
    else if (answer.kind === 'done') this.#parsed(answer.fedBytes);
    else {
      const drawing = this.#drawings.shift();
      if (drawing === undefined) return;
      for (const { resolve } of drawing.wishes) resolve({ ...drawing.snapshot, bytes: answer.bytes });
    }
  }

  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#cancelGrant?.();
    this.#stream.abandon();
    for (const { resolve } of [...this.#wishes, ...this.#drawings.flatMap(({ wishes }) => wishes)]) resolve(null);
    this.#wishes = [];
    this.#drawings = [];
    this.#options.order({ kind: 'forget', screen: this.#options.number });
    this.#options.ended();
  }

  #handleEvent(event: Readonly<Record<string, unknown>>): void {
    if (this.#over) return;
    switch (event['type']) {
      case 'started':
        this.#offset = parseCount(event['offset']);
        this.#exact = this.#offset === 0;
        return;
      case 'resized':
        this.#resize(parseCount(event['cols']), parseCount(event['rows']));
        return;
      case 'lagged':
        this.#offset += parseCount(event['bytes']);
        this.#gap();
        return;
      case 'caught_up':
        this.#caughtUp();
    }
  }

  #resize(cols: number, rows: number): void {
    const isFirst = this.#size.cols === 0;
    this.#size = { cols, rows };
    const { number: screen, order } = this.#options;
    order({ kind: 'size', screen, cols, rows });
    if (isFirst && !this.#exact) order({ kind: 'gap', screen });
  }

  #gap(): void {
    this.#exact = false;
    if (this.#size.cols > 0) this.#options.order({ kind: 'gap', screen: this.#options.number });
  }

  #feed(bytes: Buffer): void {
    this.#offset += bytes.length;
    if (this.#over || this.#size.cols === 0) return;
    if (!this.#options.hasRoom(bytes.length)) {
      this.#gap();
      this.#grant(bytes.length);
      return;
    }
    this.waitingBytes += bytes.length;
    // Copied, because the bytes are only lent.
    this.#options.order({ kind: 'feed', screen: this.#options.number, bytes: new Uint8Array(bytes) });
  }

  #parsed(bytes: number): void {
    this.waitingBytes -= bytes;
    this.#grant(bytes);
  }

  #grant(bytes: number): void {
    if (this.#over) return;
    this.#owedBytes += bytes;
    const granted = this.#wishes.length > 0 ? this.#owedBytes : this.#allowance.take(this.#owedBytes);
    this.#owedBytes -= granted;
    if (granted > 0) this.#stream.consumed(granted);
    if (this.#owedBytes === 0 || this.#cancelGrant !== null) return;
    this.#cancelGrant = this.#options.setTimer(() => {
      this.#cancelGrant = null;
      this.#grant(0);
    }, GRANT_EVERY_MS);
  }

  /** Fetches everything in the ring for a waiting viewer, regardless of the allowance. */
  #ask(): void {
    this.#stream.control({ type: 'catch_up' });
    this.#grant(0);
  }

  #caughtUp(): void {
    const [ready, early] = [
      this.#wishes.filter((wish) => this.#serves(wish)),
      this.#wishes.filter((wish) => !this.#serves(wish)),
    ];
    this.#wishes = early;
    if (early.length > 0) this.#ask();
    if (ready.length === 0) return;
    this.#drawings.push({ snapshot: { offset: this.#offset, exact: this.#exact, ...this.#size }, wishes: ready });
    this.#options.order({ kind: 'draw', screen: this.#options.number });
  }

  #serves({ atLeast }: Wish): boolean {
    return this.#offset >= atLeast;
  }
}
