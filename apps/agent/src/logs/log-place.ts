import type { LogLine } from './log-lines.ts';

/** A reader's position in a log: after a given line. */
export interface LogPlace {
  /** Time of the newest line so far: lines of the two outputs may be slightly out of order. */
  newestTime: string;
  /** Time of the last line. */
  time: string;
  hash: number;
  /** Number of lines with this hash so far. */
  count: number;
}

const PLACE = /^(\S{20,40}) (\S{20,40}) (\d{1,16}) (\d{1,16})$/;

/** Opaque token for the platform: `position` of an output, `resume_after` of a command. */
export function encodePlace({ newestTime, time, hash, count }: LogPlace): string {
  return `${newestTime} ${time} ${hash} ${count}`;
}

/** Null if the text is not such a token. */
export function decodePlace(text: string): LogPlace | null {
  const [, newestTime, time, hash, count] = PLACE.exec(text) ?? [];
  if (newestTime === undefined || time === undefined) return null;
  return { newestTime, time, hash: Number(hash), count: Number(count) };
}

/**
 * Recognizes lines that the reader already has from an earlier agent, in a log read from the second of the last such
 * line: all lines up to it or, if rotation removed it, all that are not newer than what the reader has.
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
    return this.#dropping; // further parts follow the first one
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

/** 53 bits of a line and its time (two FNV-like halves): a collision hides one line in 10^15. */
export function hashOf({ time, text }: Pick<LogLine, 'time' | 'text'>): number {
  const whole = `${time} ${text}`;
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < whole.length; index += 1) {
    const code = whole.charCodeAt(index);
    high = Math.imul(high ^ code, 2_654_435_761);
    low = Math.imul(low ^ code, 1_597_334_677);
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return 4_294_967_296 * (2_097_151 & low) + (high >>> 0);
}
