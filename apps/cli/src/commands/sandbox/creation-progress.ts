import type { SandboxInfo } from '@svc/sdk';
import { printable } from '../../client/output.ts';

/** The used subset of stderr. */
export interface ProgressTarget {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Shows what a sandbox is waiting for: redraws one line on a terminal, otherwise prints a line per change. */
export class CreationProgress {
  readonly #target: ProgressTarget;
  readonly #nowMs: () => number;
  readonly #startedAtMs: number;
  #shown = '';

  constructor(target: ProgressTarget, nowMs: () => number) {
    this.#target = target;
    this.#nowMs = nowMs;
    this.#startedAtMs = nowMs();
  }

  readonly show = ({ image_progress: image }: Pick<SandboxInfo, 'image_progress'>): void => {
    const message = printable(image?.message ?? 'Starting the sandbox');
    if (this.#target.isTTY === true) {
      const seconds = Math.round((this.#nowMs() - this.#startedAtMs) / 1000);
      this.#target.write(`\r\u001b[K${`svc: ${seconds} s: ${message}`.slice(0, (this.#target.columns ?? 80) - 1)}`);
    } else if (message !== this.#shown) this.#target.write(`svc: ${message}\n`);
    this.#shown = message;
  };

  /** Clears the line. */
  end(): void {
    if (this.#target.isTTY === true && this.#shown !== '') this.#target.write('\r\u001b[K');
  }
}
