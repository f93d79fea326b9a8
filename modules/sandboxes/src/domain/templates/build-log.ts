import { StringDecoder } from 'node:string_decoder';
import type { Clock } from '@svc/runtime';
import type { Channel } from '../helper/helper-stream.ts';
import type { LogLevel, LogLine, TemplateRepository } from './template.ts';

const MAX_LINES = 20_000;
const MAX_LINE_CHARACTERS = 4096;
const FLUSH_MS = 200;
const FLUSH_LINES = 200;
/** Above this, a command waits until its output is stored. */
const MAX_PENDING_LINES = 1000;

export interface BuildLogDeps {
  readonly repository: Pick<TemplateRepository, 'appendLog'>;
  readonly buildId: string;
  readonly clock: Clock;
  /** Called when lines were stored. */
  readonly changed: () => void;
}

/** The log of one build. Lines are stored in batches, in order; a build that writes too many keeps the first ones. */
export class BuildLog {
  readonly #deps: BuildLogDeps;
  #pending: LogLine[] = [];
  #next = 0;
  #storing: Promise<void> = Promise.resolve();
  #cancelTimer: (() => void) | null = null;

  constructor(deps: BuildLogDeps) {
    this.#deps = deps;
  }

  write(message: string, step: number | null = null, level: LogLevel = 'info'): void {
    for (const line of message.split('\n')) this.#push(line, step, level);
  }

  /** Collects the output of a command of a step, line by line. Call `end` after the last byte. */
  output(step: number): { push(bytes: Buffer, channel: Channel, done: () => void): void; end(): void } {
    const streams = { 1: new Lines(), 2: new Lines() };
    return {
      push: (bytes, channel, done) => {
        for (const line of streams[channel].push(bytes)) this.#push(line, step, 'info');
        if (this.#pending.length < MAX_PENDING_LINES) done();
        else void this.flush().finally(done);
      },
      end: () => {
        for (const stream of [streams[1], streams[2]]) for (const line of stream.end()) this.#push(line, step, 'info');
      },
    };
  }

  /** Resolves when everything written so far is stored. */
  flush(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    const lines = this.#pending;
    this.#pending = [];
    const { repository, buildId, changed } = this.#deps;
    const stored = this.#storing.then(async () => {
      if (lines.length === 0) return;
      await repository.appendLog(buildId, lines);
      changed();
    });
    this.#storing = stored.catch(() => undefined); // reported to the caller of this flush
    return stored;
  }

  #push(line: string, step: number | null, level: LogLevel): void {
    if (this.#next > MAX_LINES) return;
    const isLast = this.#next === MAX_LINES;
    const message = isLast ? `The log ends here: it has ${MAX_LINES} lines` : line.slice(0, MAX_LINE_CHARACTERS);
    const at = this.#deps.clock.now().toISOString();
    // PostgreSQL stores no NUL character.
    this.#pending.push({ sequence: this.#next, at, level, step, message: message.replaceAll('\0', '\uFFFD') });
    this.#next += 1;
    if (this.#pending.length >= FLUSH_LINES) this.#flushBehind();
    else this.#cancelTimer ??= this.#deps.clock.setTimer(() => this.#flushBehind(), FLUSH_MS);
  }

  #flushBehind(): void {
    this.flush().catch(() => undefined); // the flush at the end of the build reports a store that fails
  }
}

/** Splits output into lines. A carriage return ends a line too, so that progress bars stay short. */
class Lines {
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';

  push(bytes: Buffer): string[] {
    const parts = (this.#rest + this.#decoder.write(bytes)).split(/\r?\n|\r(?=.)/);
    this.#rest = (parts.pop() ?? '').slice(0, MAX_LINE_CHARACTERS);
    return parts;
  }

  end(): string[] {
    const rest = (this.#rest + this.#decoder.end()).replace(/\r$/, '');
    this.#rest = '';
    return rest === '' ? [] : [rest];
  }
}
