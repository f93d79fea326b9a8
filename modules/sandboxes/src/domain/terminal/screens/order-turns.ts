import type { ScreenOrder } from './screen-messages.ts';

/** One order of each screen in turn, however many wait for one of them: who floods waits behind nobody but itself. */
export class OrderTurns {
  readonly #obey: (order: ScreenOrder) => void;
  /** Runs it soon, after what came meanwhile was taken in. */
  readonly #soon: (next: () => void) => void;
  /** The screens that have orders, the next one first. */
  readonly #waiting = new Map<number, ScreenOrder[]>();

  constructor(obey: (order: ScreenOrder) => void, soon: (next: () => void) => void) {
    this.#obey = obey;
    this.#soon = soon;
  }

  add(order: ScreenOrder): void {
    const orders = this.#waiting.get(order.screen);
    if (orders !== undefined) orders.push(order);
    else if (this.#waiting.set(order.screen, [order]).size === 1) this.#soon(() => this.#next());
  }

  #next(): void {
    for (const [screen, [order, ...rest]] of this.#waiting) {
      this.#waiting.delete(screen);
      if (rest.length > 0) this.#waiting.set(screen, rest);
      if (order !== undefined) this.#obey(order);
      break;
    }
    if (this.#waiting.size > 0) this.#soon(() => this.#next());
  }
}
