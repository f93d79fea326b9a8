import type { LogLine } from './log-lines.ts';
import { hashOf, type LogPlace } from './log-place.ts';

const REMEMBERED = 4096;

/**
 * Recognizes lines that a stream repeats because `sinceTime` has whole seconds. The most recent lines are remembered by
 * hash; before those, the time alone decides. Lines of the two outputs may be slightly out of order, so time alone does
 * not suffice.
 */
export class SeenLines {
  readonly #hashes: number[] = [];
  readonly #times: string[] = [];
  readonly #counts = new Map<number, number>();
  #next = 0;
  #lastTime = '';
  #place: LogPlace | null = null;
  #replay: Map<number, number> | null = null;
  #dropping = false;

  /** Time of the newest line; empty before the first. */
  get lastTime(): string {
    return this.#lastTime;
  }

  /** After the last line; null before the first. */
  get place(): LogPlace | null {
    return this.#place;
  }

  /** The next lines may be repetitions. */
  beginReplay(): void {
    this.#replay = new Map(this.#counts);
    this.#dropping = false;
  }

  /** True for a line seen before; otherwise remembers it. */
  isRepeated(line: LogLine): boolean {
    if (!line.begins) return this.#dropping; // follows its first part
    this.#dropping = this.#replay !== null && this.#repeats(line, this.#replay);
    if (!this.#dropping) this.#remember(line);
    return this.#dropping;
  }

  #repeats(line: LogLine, replay: Map<number, number>): boolean {
    if (line.time === '') return false;
    const hash = hashOf(line);
    const left = replay.get(hash) ?? 0;
    if (left > 0) {
      replay.set(hash, left - 1);
      return true;
    }
    if (line.time > this.#lastTime) this.#replay = null; // newer than anything seen
    const oldest = this.#times[this.#hashes.length < REMEMBERED ? 0 : this.#next];
    return oldest !== undefined && line.time < oldest;
  }

  #remember(line: LogLine): void {
    if (line.time === '') return;
    const hash = hashOf(line);
    const forgotten = this.#hashes[this.#next];
    if (forgotten !== undefined) {
      const count = (this.#counts.get(forgotten) ?? 1) - 1;
      if (count === 0) this.#counts.delete(forgotten);
      else this.#counts.set(forgotten, count);
    }
    this.#hashes[this.#next] = hash;
    this.#times[this.#next] = line.time;
    const count = (this.#counts.get(hash) ?? 0) + 1;
    this.#counts.set(hash, count);
    this.#next = (this.#next + 1) % REMEMBERED;
    if (line.time > this.#lastTime) this.#lastTime = line.time;
    this.#place = { newestTime: this.#lastTime, time: line.time, hash, count };
  }
}
