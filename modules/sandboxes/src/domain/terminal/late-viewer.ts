import type { Channel, Outcome, StreamListener } from '../helper/helper-stream.ts';
import { parseCount } from './count-of.ts';
import type { ProcessStream } from './process-stream.ts';
import type { Snapshot } from './screens/session-screen.ts';

export interface TerminalListener extends StreamListener {
  /** Called before `started` if the following output only makes sense after this screen. */
  screen?(snapshot: Snapshot): void;
}

export interface LateViewerOptions {
  readonly open: (listener: StreamListener) => ProcessStream;
  readonly listener: TerminalListener;
  /** Offset of the output that the client already has. */
  readonly since: number;
  /** Called when the session exists. */
  readonly joined: () => void;
  /** The screen at that offset or later, or null. */
  readonly snapshot: (atLeast: number) => Promise<Snapshot | null>;
}

type Held =
  | { readonly kind: 'data'; readonly bytes: Buffer; readonly channel: Channel }
  | { readonly kind: 'lagged'; readonly bytes: number };

/**
 * Serves a client whose missing output is no longer fully in the session's ring. It receives the screen, then the
 * output after it. Output that arrives meanwhile is held, at most one stream window, which pauses the terminal. Without
 * a screen, the client receives what the ring has.
 */
export class LateViewer implements ProcessStream {
  readonly outcome: Promise<Outcome>;
  readonly #options: LateViewerOptions;
  readonly #stream: ProcessStream;
  #held: Held[] | null = null;
  #released: Promise<void> = Promise.resolve();
  /** Offset of the next byte from the sandbox. */
  #offset = 0;
  /** Offset at which the client's output begins. */
  #from = 0;

  constructor(options: LateViewerOptions) {
    this.#options = options;
    const { listener } = options;
    this.#stream = options.open({
      ...listener,
      event: (event) => this.#handleEvent(event),
      data: (bytes, channel) => this.#receive(bytes, channel),
    });
    this.outcome = this.#stream.outcome.then(async (outcome) => {
      await this.#released;
      return outcome;
    });
  }

  write(bytes: Uint8Array): Promise<boolean> {
    return this.#stream.write(bytes);
  }

  control(message: Readonly<Record<string, unknown>>): void {
    this.#stream.control(message);
  }

  finishInput(): void {
    this.#stream.finishInput();
  }

  consumed(bytes: number): void {
    this.#stream.consumed(bytes);
  }

  abandon(): void {
    this.#stream.abandon();
  }

  #handleEvent(event: Readonly<Record<string, unknown>>): void {
    if (event['type'] === 'started') this.#begin(event);
    else if (event['type'] === 'lagged') this.#lag(parseCount(event['bytes']));
    else this.#options.listener.event?.(event);
  }

  #begin(event: Readonly<Record<string, unknown>>): void {
    const { joined, since, listener, snapshot } = this.#options;
    const offset = parseCount(event['offset']);
    [this.#offset, this.#from] = [offset, offset];
    joined();
    if (offset <= since) {
      listener.event?.(event);
      return;
    }
    this.#held = [];
    this.#released = snapshot(parseCount(event['end'])).then((found) => this.#release(event, found));
  }

  #release(event: Readonly<Record<string, unknown>>, snapshot: Snapshot | null): void {
    const { listener } = this.#options;
    const held = this.#held ?? [];
    this.#held = null;
    if (snapshot === null || snapshot.offset < this.#from) {
      listener.event?.(event);
    } else {
      listener.screen?.(snapshot);
      listener.event?.({ ...event, offset: snapshot.offset, end: snapshot.offset });
      this.#from = snapshot.offset;
    }
    for (const each of held) {
      if (each.kind === 'data') this.#receive(each.bytes, each.channel);
      else this.#lag(each.bytes);
    }
  }

  #receive(bytes: Buffer, channel: Channel): void {
    if (this.#held !== null) {
      this.#held.push({ kind: 'data', bytes: Buffer.from(bytes), channel });
      return;
    }
    const skipped = this.#skip(bytes.length);
    if (skipped > 0) this.#stream.consumed(skipped);
    if (skipped < bytes.length) this.#options.listener.data?.(bytes.subarray(skipped), channel);
  }

  #lag(bytes: number): void {
    if (this.#held !== null) {
      this.#held.push({ kind: 'lagged', bytes });
      return;
    }
    const lost = bytes - this.#skip(bytes);
    if (lost > 0) this.#options.listener.event?.({ type: 'lagged', bytes: lost });
  }

  /** Returns how many of the incoming bytes the screen already includes. */
  #skip(bytes: number): number {
    const skipped = Math.min(bytes, Math.max(0, this.#from - this.#offset));
    this.#offset += bytes;
    return skipped;
  }
}
