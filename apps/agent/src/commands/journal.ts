import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandName, CommandResult, DeployCommand } from '@svc/protocol';
import type { Clock } from '@svc/runtime';
import { agentErrors } from '../errors.ts';
import { JournalFile, type LinePlace } from './journal-file.ts';
import { UnfinishedDeploys } from './unfinished-deploys.ts';

/** The journal's knowledge of a command id. */
export type KnownCommand = { state: 'running' } | { state: 'finished'; result: CommandResult };

/**
 * Records on disk which commands began and how they ended, so that no id runs twice and no result is lost, even if the
 * agent is killed in between. A file beside the agent rather than an object in the cluster: it works while the API
 * server is down, costs no etcd write per command, and needs no permission. If the file is lost (a new pod without a
 * volume), deploys are still recognized by the id in their inventory.
 */
export interface CommandJournal {
  find(commandId: string): Promise<KnownCommand | null>;
  /** On disk when it resolves. A stored deploy is finished by the next process if this one is killed. */
  begin(commandId: string, command: CommandName, deploy?: DeployCommand): Promise<void>;
  /** The deploy that an earlier process began; null if unknown. Its resume count is on disk before it resolves. */
  resume(commandId: string): Promise<DeployCommand | null>;
  /** On disk when it resolves. */
  finish(result: CommandResult): Promise<void>;
  acknowledge(commandIds: readonly string[]): Promise<void>;
  /** Results that the platform has not confirmed, oldest first. */
  unacknowledged(): Promise<CommandResult[]>;
  unacknowledgedIds(): string[];
  /** Commands that began before this process and have no result. */
  interrupted(): readonly InterruptedCommand[];
  close(): Promise<void>;
}

export interface InterruptedCommand {
  commandId: string;
  command: CommandName;
  startedAt: string;
  /** How many later processes resumed it and were killed as well. */
  resumes: number;
}

type Line =
  | { at: string; id: string; state: 'started'; command: CommandName }
  | { at: string; id: string; state: 'resumed' }
  | { at: string; id: string; state: 'finished'; result: CommandResult }
  | { at: string; id: string; state: 'acknowledged' };

interface Entry {
  command: CommandName;
  startedAt: string;
  resumes: number;
  atMs: number;
  /** Position of the result; null while it runs. */
  result: LinePlace | null;
  acknowledged: boolean;
}

const FILE = 'commands.jsonl';
const MAX_RESULTS = 1000;
const MAX_AGE_MS = 24 * 3_600_000;
const REWRITE_ABOVE_BYTES = 32 * 1024 * 1024;
const REWRITE_ABOVE_LINES = 8000;

export async function openJournal(folder: string, clock: Clock): Promise<CommandJournal> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const entries = new Map<string, Entry>();
    let lines = 0;
    const file = await JournalFile.open(join(folder, FILE), (text, place) => {
      lines += 1;
      try {
        apply(entries, text, place);
      } catch {
        // Omit the parser's message: it quotes the line, which may contain command output.
        throw new Error(
          `line ${lines} of ${FILE} is damaged; move the file away; the history of earlier commands is then lost`,
        );
      }
    });
    const open = [...entries].filter(([, { result }]) => result === null).map(([id]) => id);
    const deploys = await UnfinishedDeploys.open(folder, open);
    const journal = new FileJournal({ file, deploys, entries, lines, clock });
    await journal.tidy();
    return journal;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw agentErrors.STATE_DIR_UNUSABLE({ details: { path: folder, reason, key: 'agent.state_dir' }, cause });
  }
}

interface FileJournalDeps {
  file: JournalFile;
  deploys: UnfinishedDeploys;
  entries: Map<string, Entry>;
  lines: number;
  clock: Clock;
}

class FileJournal implements CommandJournal {
  readonly #file: JournalFile;
  readonly #deploys: UnfinishedDeploys;
  readonly #entries: Map<string, Entry>;
  readonly #clock: Clock;
  readonly #interrupted: readonly InterruptedCommand[];
  #lines: number;
  #rewriteAboveBytes = REWRITE_ABOVE_BYTES;
  /** Serializes access: a rewrite moves the lines that a read refers to. */
  #last: Promise<unknown> = Promise.resolve();

  constructor({ file, deploys, entries, lines, clock }: FileJournalDeps) {
    this.#file = file;
    this.#deploys = deploys;
    this.#entries = entries;
    this.#lines = lines;
    this.#clock = clock;
    this.#interrupted = [...entries]
      .filter(([, entry]) => entry.result === null)
      .map(([commandId, { command, startedAt, resumes }]) => ({ commandId, command, startedAt, resumes }));
  }

  find(commandId: string): Promise<KnownCommand | null> {
    return this.#inOrder(async () => {
      const entry = this.#entries.get(commandId);
      if (entry === undefined) return null;
      return entry.result === null
        ? { state: 'running' }
        : { state: 'finished', result: await this.#read(entry.result) };
    });
  }

  begin(commandId: string, command: CommandName, deploy?: DeployCommand): Promise<void> {
    return this.#inOrder(async () => {
      if (deploy !== undefined) await this.#deploys.write(commandId, deploy);
      await this.#append({ at: this.#now(), id: commandId, state: 'started', command });
    });
  }

  resume(commandId: string): Promise<DeployCommand | null> {
    return this.#inOrder(async () => {
      await this.#append({ at: this.#now(), id: commandId, state: 'resumed' });
      return this.#deploys.read(commandId);
    });
  }

  finish(result: CommandResult): Promise<void> {
    return this.#inOrder(async () => {
      await this.#append({ at: this.#now(), id: result.command_id, state: 'finished', result });
      await this.#deploys.remove(result.command_id);
      await this.#tidy();
    });
  }

  acknowledge(commandIds: readonly string[]): Promise<void> {
    return this.#inOrder(async () => {
      for (const id of commandIds) {
        const entry = this.#entries.get(id);
        if (entry === undefined || entry.result === null || entry.acknowledged) continue;
        await this.#append({ at: this.#now(), id, state: 'acknowledged' });
      }
    });
  }

  unacknowledged(): Promise<CommandResult[]> {
    return this.#inOrder(async () => {
      const results: CommandResult[] = [];
      for (const entry of this.#entries.values()) {
        if (entry.result !== null && !entry.acknowledged) results.push(await this.#read(entry.result));
      }
      return results;
    });
  }

  unacknowledgedIds(): string[] {
    return [...this.#entries].filter(([, entry]) => entry.result !== null && !entry.acknowledged).map(([id]) => id);
  }

  interrupted(): readonly InterruptedCommand[] {
    return this.#interrupted;
  }

  tidy(): Promise<void> {
    return this.#inOrder(() => this.#tidy());
  }

  close(): Promise<void> {
    return this.#inOrder(() => this.#file.close());
  }

  /** Forgets entries that can no longer be asked for; rewrites the file once it has grown. */
  async #tidy(): Promise<void> {
    this.#forget();
    if (this.#file.sizeBytes < this.#rewriteAboveBytes && this.#lines < REWRITE_ABOVE_LINES) return;
    const kept = [...this.#entries].flatMap(([id, entry]) => renderLines(id, entry).map((line) => ({ entry, line })));
    const places = await this.#file.rewrite(kept.map(({ line }) => line));
    for (const [index, { entry, line }] of kept.entries()) {
      if (typeof line !== 'string') entry.result = places[index] ?? null;
    }
    this.#lines = kept.length;
    this.#rewriteAboveBytes = Math.max(REWRITE_ABOVE_BYTES, 2 * this.#file.sizeBytes);
  }

  /** Drops acknowledged results by age and count; keeps unconfirmed ones, up to ten times as many. */
  #forget(): void {
    const oldestMs = this.#clock.nowMs() - MAX_AGE_MS;
    let surplus = this.#entries.size - MAX_RESULTS;
    for (const [id, entry] of this.#entries) {
      if (entry.result === null) continue;
      const expired = entry.acknowledged && (entry.atMs < oldestMs || surplus > 0);
      if (!expired && surplus <= 9 * MAX_RESULTS) continue;
      this.#entries.delete(id);
      surplus -= 1;
    }
  }

  async #append(line: Line): Promise<void> {
    const text = JSON.stringify(line);
    const place = await this.#file.append(text);
    this.#lines += 1;
    apply(this.#entries, text, place);
  }

  async #read(place: LinePlace): Promise<CommandResult> {
    const line = JSON.parse(await this.#file.read(place)) as Line; // written by this class
    if (line.state !== 'finished') throw new Error('the journal points at a line that is no result');
    return line.result;
  }

  #now(): string {
    return this.#clock.now().toISOString();
  }

  #inOrder<Result>(action: () => Promise<Result>): Promise<Result> {
    const next = this.#last.then(action, action);
    this.#last = next.catch(() => undefined);
    return next;
  }
}

function renderLines(id: string, entry: Entry): (string | LinePlace)[] {
  const started: Line = { at: entry.startedAt, id, state: 'started', command: entry.command };
  const lines: (string | LinePlace)[] = [JSON.stringify(started)];
  const resumed: Line = { at: entry.startedAt, id, state: 'resumed' };
  for (let count = 0; count < entry.resumes; count += 1) lines.push(JSON.stringify(resumed));
  if (entry.result !== null) lines.push(entry.result);
  const acknowledged: Line = { at: new Date(entry.atMs).toISOString(), id, state: 'acknowledged' };
  if (entry.acknowledged) lines.push(JSON.stringify(acknowledged));
  return lines;
}

function apply(entries: Map<string, Entry>, text: string, place: LinePlace): void {
  const line = JSON.parse(text) as Line; // complete lines are written only by this module
  const atMs = Date.parse(line.at);
  const entry = entries.get(line.id);
  switch (line.state) {
    case 'started':
      entries.set(line.id, {
        command: line.command,
        startedAt: line.at,
        resumes: 0,
        atMs,
        result: null,
        acknowledged: false,
      });
      return;
    case 'resumed':
      if (entry !== undefined) entry.resumes += 1;
      return;
    case 'finished':
      entries.set(line.id, {
        command: line.result.command,
        startedAt: entry?.startedAt ?? line.result.started_at,
        resumes: 0,
        atMs,
        result: place,
        acknowledged: false,
      });
      return;
    case 'acknowledged':
      if (entry !== undefined) entry.acknowledged = true;
  }
}
