import type { SandboxInfo } from '@svc/sdk';
import { printable } from '../../client/output.ts';

/** As much of standard error as is used. */
export interface ProgressTarget {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Says what a sandbox waits for: one line that is drawn again on a terminal, a line for each change elsewhere. */
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

  /** Takes the line away. */
  end(): void {
    if (this.#target.isTTY === true && this.#shown !== '') this.#target.write('\r\u001b[K');
  }
}
