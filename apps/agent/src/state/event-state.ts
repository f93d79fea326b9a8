import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { EventReport } from '@svc/protocol';
import type { Logger } from '@svc/telemetry';
import type { ReflectorPlace } from '@svc/kube';
import { Outbox, type Added, type OutboxLimits } from '../channel/outbox.ts';
import { pause, type Clock } from '@svc/runtime';
import { JournalFile } from '../commands/journal-file.ts';
import { agentErrors } from '../errors.ts';
import { findOrCreateKind, replay, snapshot, type KnownKind, type KnownKinds, type StateLine } from './state-line.ts';

export interface EventStateOptions {
  folder: string;
  clock: Clock;
  log: Logger;
  /** Called when the outbox has changed or can send. */
  changed?: (outbox: Outbox) => void;
  limits?: OutboxLimits;
}

/** An observed object: the state kept of it (null: it is gone) and the events it produced. */
export interface Observation {
  key: string;
  version: string | null;
  kept: unknown;
  events: readonly Omit<EventReport, 'seq'>[];
}

const REWRITE_ABOVE_BYTES = 1024 * 1024;
/** More pending lines than this are discarded: a rewrite stores the same state. */
const MAX_PENDING_LINES = 20_000;
const LINES_IN_A_PIECE = 500;
/** A thousand events a second for a thousand years; numbers stay exact far above it. */
const MOST_PLAUSIBLE_SEQ = 2 ** 45;
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 30_000;

/** Reads the state that an earlier process left in the folder, or starts fresh. */
export async function openEventState(options: EventStateOptions): Promise<EventState> {
  const { folder, log, changed, limits } = options;
  const outbox: Outbox = new Outbox(() => changed?.(outbox), limits);
  const kinds: KnownKinds = new Map();
  let unreadable = 0;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const file = await JournalFile.open(join(folder, 'events.jsonl'), (text) => {
      const line = parsed(text);
      if (line === null) unreadable += 1;
      else replay(line, outbox, kinds);
    });
    // Lines are written whole, but a disk that lost power may return anything.
    if (unreadable > 0) log.warn({ lines: unreadable }, 'some stored events are unreadable and were skipped');
    return new EventState(options, file, outbox, kinds);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw agentErrors.STATE_DIR_UNUSABLE({ details: { path: folder, reason, key: 'agent.state_dir' }, cause });
  }
}

/** Events and known objects: in memory for reads, and on disk before an event is sent. */
export class EventState {
  readonly outbox: Outbox;
  /** Called when events are ready to be sent. */
  onStored: () => void = () => undefined;
  readonly #options: EventStateOptions;
  readonly #file: JournalFile;
  readonly #kinds: KnownKinds;
  /** Kinds that this process watches; others belong to another configuration and are dropped. */
  readonly #watched = new Set<string>();
  readonly #closing = new AbortController();
  #pending: string[] = [];
  #running: Promise<void> | null = null;
  #rewriteAboveBytes = REWRITE_ABOVE_BYTES;
  #rewriteNeeded = true;
  #retryMs = FIRST_RETRY_MS;

  constructor(options: EventStateOptions, file: JournalFile, outbox: Outbox, kinds: KnownKinds) {
    this.#options = options;
    this.#file = file;
    this.#kinds = kinds;
    this.outbox = outbox;
    if (outbox.id === '') outbox.begin(randomUUID(), 1, null);
    outbox.stored(outbox.nextSeq - 1);
  }

  /** Where the kind's watch resumes; marks the kind as watched. */
  place<Kept>(kind: string): ReflectorPlace<Kept> {
    this.#watched.add(kind);
    const { version, kept } = findOrCreateKind(this.#kinds, kind);
    return { version, kept: kept as ReadonlyMap<string, Kept> }; // set by this kind's `observe` calls
  }

  /** Adds an event that is not about an observed object. */
  report(event: Omit<EventReport, 'seq'>): void {
    this.#append(linesOf([this.outbox.add(event)]));
  }

  observe(kind: string, { key, version, kept, events }: Observation): void {
    const known = findOrCreateKind(this.#kinds, kind);
    if (version !== null) known.version = version;
    const same = kept !== null && isDeepStrictEqual(known.kept.get(key), kept);
    if (kept === null) known.kept.delete(key);
    else known.kept.set(key, kept);
    if (same && events.length === 0) return; // no change; seeing it again after a crash has no effect either
    const added = events.map((event) => this.outbox.add(event));
    this.#append({ ...linesOf(added), kind, key, kept, ...(version === null ? {} : { version }) });
  }

  reached(kind: string, version: string): void {
    findOrCreateKind(this.#kinds, kind).version = version;
    this.#append({ kind, version });
  }

  /** The platform has stored everything up to this sequence. */
  acknowledge(seq: number): void {
    this.outbox.acknowledge(seq);
    this.#append({ acknowledged: seq });
  }

  /** A new connection to a platform that has stored everything up to this sequence. */
  rewind(saidSeq: number): void {
    // A larger number is implausible: it cannot be ours, and is no reason to renumber the waiting events.
    const receivedSeq = saidSeq > MOST_PLAUSIBLE_SEQ ? 0 : saidSeq;
    if (this.outbox.rewind(receivedSeq)) this.#rewriteNeeded = true;
    if (receivedSeq > 0) this.#append({ acknowledged: receivedSeq });
  }

  /** Resolves when everything so far is on disk, or the disk rejected it. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    await this.#file.close();
  }

  #append(line: StateLine): void {
    if (this.#closing.signal.aborted) return;
    if (this.#pending.length >= MAX_PENDING_LINES) this.#rewriteNeeded = true;
    if (this.#rewriteNeeded) this.#pending = [];
    else this.#pending.push(JSON.stringify(line));
    this.#running ??= this.#run();
  }

  /** Group commit: while one write runs, the lines of further observations collect for the next. */
  async #run(): Promise<void> {
    await new Promise(setImmediate); // observations of the same tick share the first write
    while (this.#pending.length > 0 || this.#rewriteNeeded) {
      const newestSeq = this.outbox.nextSeq - 1;
      try {
        await this.#write();
        this.#retryMs = FIRST_RETRY_MS;
        this.outbox.stored(newestSeq);
        this.onStored();
      } catch (error) {
        const { clock, log } = this.#options;
        log.error({ err: error }, 'events cannot be stored; they are kept in memory until storage works again');
        this.#rewriteNeeded = true; // the last line may be incomplete
        if (this.#closing.signal.aborted) break;
        await pause(clock, this.#retryMs, this.#closing.signal);
        this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
      }
    }
    this.#running = null; // same tick as the last check: a later line starts a new run
  }

  async #write(): Promise<void> {
    const lines = this.#pending;
    this.#pending = [];
    if (!this.#rewriteNeeded && this.#file.sizeBytes < this.#rewriteAboveBytes) {
      await this.#file.append(lines.join('\n'));
      return;
    }
    this.#rewriteNeeded = false;
    await this.#file.rewrite(inPieces(snapshot(this.outbox, this.#watchedKinds())));
    this.#rewriteAboveBytes = Math.max(REWRITE_ABOVE_BYTES, 2 * this.#file.sizeBytes);
  }

  #watchedKinds(): ReadonlyMap<string, KnownKind> {
    return new Map([...this.#kinds].filter(([name]) => this.#watched.has(name)));
  }
}

function linesOf(added: readonly Added[]): Pick<StateLine, 'events' | 'replaced'> {
  if (added.length === 0) return {};
  const replaced = added.flatMap(({ replaced: seq }) => (seq === null ? [] : [seq]));
  return { events: added.map(({ event }) => event), ...(replaced.length === 0 ? {} : { replaced }) };
}

/** Serializes lines, many per piece; each piece is one write. All at once, because the state keeps changing. */
function inPieces(lines: Iterable<StateLine>): string[] {
  const texts = [...lines].map((line) => JSON.stringify(line));
  const pieces: string[] = [];
  while (texts.length > 0) pieces.push(texts.splice(0, LINES_IN_A_PIECE).join('\n'));
  return pieces;
}

function parsed(text: string): StateLine | null {
  try {
    const line: unknown = JSON.parse(text);
    return typeof line === 'object' && line !== null ? line : null; // only this module writes the file
  } catch {
    return null;
  }
}
