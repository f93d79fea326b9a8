import type { ReadStream, WriteStream } from 'node:tty';
import { usageFailure } from '../client/command-failure.ts';
import { PrivateModes } from './private-modes.ts';

export interface Size {
  cols: number;
  rows: number;
}

export interface OwnTerminalListener {
  keys(bytes: Uint8Array): void;
  resized(size: Size): void;
  /** Called on SIGHUP: the window was closed, or the process was asked to end. */
  hungUp(): void;
}

/** The user's terminal. `restore` undoes all changes, even if the process ends by an exception. */
export class OwnTerminal {
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  readonly #modes = new PrivateModes();
  readonly #restore = (): void => this.restore();
  #listener: OwnTerminalListener | null = null;

  /** `hint` names an alternative that needs no terminal. */
  constructor(input: ReadStream, output: WriteStream, hint: string) {
    if (!input.isTTY || !output.isTTY) {
      throw usageFailure('a shell requires a terminal', hint);
    }
    this.#input = input;
    this.#output = output;
  }

  /** Terminals without a known size report 0. */
  get size(): Size {
    const { columns, rows } = this.#output;
    return { cols: columns > 0 ? columns : 80, rows: rows > 0 ? rows : 24 };
  }

  /** Sends all further input to the listener, including Ctrl-C. */
  takeOver(listener: OwnTerminalListener): void {
    this.#listener = listener;
    this.#input.setRawMode(true);
    this.#input.on('data', this.#keys);
    this.#output.on('resize', this.#resized);
    process.on('SIGHUP', this.#hungUp).on('exit', this.#restore);
    this.#input.resume();
  }

  /** Resolves when the terminal accepts more. */
  show(bytes: Uint8Array): Promise<void> {
    this.#modes.see(bytes);
    return new Promise((resolve) => {
      if (this.#output.write(bytes)) resolve();
      else this.#output.once('drain', () => resolve());
    });
  }

  /** Prints a line of the CLI between the shell's output. */
  note(line: string): void {
    this.#output.write(`\r\n${line}\r\n`);
  }

  newLine(): void {
    this.#output.write('\r\n');
  }

  restore(): void {
    if (this.#listener === null) return;
    this.#listener = null;
    this.#input.off('data', this.#keys);
    this.#output.off('resize', this.#resized);
    process.off('SIGHUP', this.#hungUp).off('exit', this.#restore);
    this.#input.pause();
    try {
      this.#input.setRawMode(false);
      this.#output.write(this.#modes.undo());
    } catch {
      // The window is gone, and with it what there was to restore.
    }
  }

  readonly #keys = (bytes: Buffer): void => this.#listener?.keys(bytes);
  readonly #resized = (): void => this.#listener?.resized(this.size);
  readonly #hungUp = (): void => this.#listener?.hungUp();
}
