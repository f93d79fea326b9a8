import type { Logger } from '@svc/telemetry';

interface Step {
  name: string;
  close: () => Promise<void> | void;
  deadlineMs: number;
}

/**
 * Opened resources, closed in reverse order. A step that fails or hangs never prevents the others from closing: each
 * has its own deadline.
 */
export class Lifecycle {
  readonly #steps: Step[] = [];
  readonly #log: Logger;
  readonly #stepDeadlineMs: number;
  #closing: Promise<void> | undefined;

  constructor(log: Logger, stepDeadlineMs = 4_000) {
    this.#log = log;
    this.#stepDeadlineMs = stepDeadlineMs;
  }

  own(name: string, close: () => Promise<void> | void, deadlineMs = this.#stepDeadlineMs): void {
    this.#steps.push({ name, close, deadlineMs });
  }

  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    for (const step of this.#steps.toReversed()) {
      try {
        await withDeadline(Promise.resolve(step.close()), step.deadlineMs, step.name);
      } catch (error) {
        this.#log.error({ err: error, step: step.name }, 'closing a component failed');
      }
    }
  }
}

async function withDeadline(work: Promise<void>, deadlineMs: number, name: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} did not close within ${deadlineMs} ms`)), deadlineMs);
  });
  try {
    await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
