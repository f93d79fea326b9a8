import type { ScreenOrder } from './screen-messages.ts';

/** Runs one order per screen in turn, so that a flooded screen delays only itself. */
export class OrderTurns {
  readonly #apply: (order: ScreenOrder) => void;
  /** Schedules a callback after pending messages have been received. */
  readonly #soon: (next: () => void) => void;
  /** Pending orders by screen, next screen first. */
  readonly #waiting = new Map<number, ScreenOrder[]>();

  constructor(apply: (order: ScreenOrder) => void, soon: (next: () => void) => void) {
    this.#apply = apply;
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
      if (order !== undefined) this.#apply(order);
      break;
    }
    if (this.#waiting.size > 0) this.#soon(() => this.#next());
  }
}
