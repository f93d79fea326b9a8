import type { ScreenAnswer, ScreenOrder, ScreenRefusal } from './screen-messages.ts';
import { Screen } from './screen.ts';

/** CPU time limit for one piece of output, which usually takes a few milliseconds. */
const MAX_FEED_MS = 500;

/** The screens of one thread. A refused screen is forgotten, and later orders for it are refused. */
export class ScreenStore {
  readonly #screens = new Map<number, Screen>();
  readonly #cpuMs: () => number;

  constructor(cpuMs: () => number) {
    this.#cpuMs = cpuMs;
  }

  handle(order: ScreenOrder): ScreenAnswer | null {
    const { screen: id } = order;
    try {
      return this.#apply(order);
    } catch {
      return this.#refuse(id, 'failed'); // the emulator failed on a program's output
    }
  }

  #apply(order: ScreenOrder): ScreenAnswer | null {
    const { screen: id } = order;
    const done: ScreenAnswer = { kind: 'done', screen: id, fedBytes: order.kind === 'feed' ? order.bytes.length : 0 };
    if (order.kind === 'forget') {
      this.#forget(id);
      return null;
    }
    if (order.kind === 'size') {
      if (!Screen.fits(order.cols, order.rows)) return this.#refuse(id, 'too_large');
      const known = this.#screens.get(id);
      if (known === undefined) this.#screens.set(id, new Screen(order.cols, order.rows));
      else known.resize(order.cols, order.rows);
      return done;
    }
    const screen = this.#screens.get(id);
    if (screen === undefined) return this.#refuse(id, 'failed');
    if (order.kind === 'draw') {
      const bytes = screen.draw();
      return bytes === null ? this.#refuse(id, 'too_large') : { kind: 'drawn', screen: id, bytes };
    }
    if (order.kind === 'gap') screen.gap();
    else if (!this.#feed(screen, order.bytes)) return this.#refuse(id, 'too_slow');
    return done;
  }

  #feed(screen: Screen, bytes: Uint8Array): boolean {
    const latestMs = this.#cpuMs() + MAX_FEED_MS;
    return screen.feed(bytes, () => this.#cpuMs() > latestMs);
  }

  #refuse(id: number, reason: ScreenRefusal): ScreenAnswer {
    this.#forget(id);
    return { kind: 'refused', screen: id, reason };
  }

  #forget(id: number): void {
    this.#screens.get(id)?.dispose();
    this.#screens.delete(id);
  }
}
