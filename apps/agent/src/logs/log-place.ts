import type { LogLine } from './log-lines.ts';
import { hashOf } from './seen-lines.ts';

/** Behind which line of a log a reader stands. */
export interface LogPlace {
  /** Time of the newest line up to here: those of two outputs may be out of order by a little. */
  newestTime: string;
  /** Time of the last line. */
  time: string;
  hash: number;
  /** How many lines with this hash came up to here. */
  count: number;
}

const PLACE = /^(\S{20,40}) (\S{20,40}) (\d{1,16}) (\d{1,16})$/;

/** One word for whoever keeps it and cannot read it: `position` of an output, `resume_after` of a command. */
export function encodePlace({ newestTime, time, hash, count }: LogPlace): string {
  return `${newestTime} ${time} ${hash} ${count}`;
}

/** Null for what no agent like this one has written. */
export function decodePlace(text: string): LogPlace | null {
  const [, newestTime, time, hash, count] = PLACE.exec(text) ?? [];
  if (newestTime === undefined || time === undefined) return null;
  return { newestTime, time, hash: Number(hash), count: Number(count) };
}

/**
 * Recognises the lines that a reader got from an agent before this one, in a log that is read from the second of the last
 * of them: all up to that line, or, where it is gone by rotation, all that are not newer than what the reader has.
 */
export class ReadBefore {
  readonly #place: LogPlace;
  #left: number;
  #dropping = false;

  constructor(place: LogPlace) {
    this.#place = place;
    this.#left = place.count;
  }

  get sinceTime(): string {
    return this.#place.time;
  }

  includes(line: LogLine): boolean {
    if (line.begins) this.#dropping = this.#isBefore(line);
    return this.#dropping; // a further part goes with its first
  }

  #isBefore(line: LogLine): boolean {
    if (this.#left === 0 || line.time === '') return false;
    if (line.time > this.#place.newestTime) {
      this.#left = 0;
      return false;
    }
    if (hashOf(line) === this.#place.hash) this.#left -= 1;
    return true;
  }
}
