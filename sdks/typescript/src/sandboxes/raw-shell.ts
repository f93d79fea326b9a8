import { SvcError } from '../errors.ts';
import { CommandInterruptedError } from './exec.ts';
import { RawConnection } from './raw-connection.ts';
import type { SandboxTransport } from './sandbox-transport.ts';

/** More than a marker needs; other terminal output is irrelevant. */
const KEPT_CHARACTERS = 64 * 1024;

interface Search {
  pattern: RegExp;
  found: PromiseWithResolvers<RegExpExecArray>;
}

/** Drives a shell on the contract's raw terminal: types input and waits for output. */
export class RawShell {
  readonly #signal: AbortSignal | undefined;
  readonly #decoder = new TextDecoder();
  readonly #abort = (): void => this.close();
  #connection: RawConnection | null = null;
  #text = '';
  #search: Search | null = null;

  private constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
  }

  /** Opens a shell on a terminal of 200 x 50. */
  static async open(transport: SandboxTransport, id: string, signal: AbortSignal | undefined): Promise<RawShell> {
    const shell = new RawShell(signal);
    shell.#connection = await RawConnection.open(
      transport,
      id,
      { query: { cols: 200, rows: 50 }, signal },
      {
        started: () => undefined,
        output: ({ bytes }) => shell.#see(shell.#decoder.decode(bytes, { stream: true })),
        taken: () => undefined,
        lagged: () => undefined,
        failed: () => undefined,
        exited: () => undefined,
        closed: (code) => shell.#lost(code),
      },
    );
    signal?.addEventListener('abort', shell.#abort, { once: true });
    return shell;
  }

  /** Types text into the shell. */
  say(text: string): void {
    this.#connection?.type(new TextEncoder().encode(text));
  }

  /**
   * Finds a pattern in the output from now on. Rejects if the terminal is lost; the command's outcome is then unknown.
   */
  find(pattern: RegExp): Promise<RegExpExecArray> {
    const found = Promise.withResolvers<RegExpExecArray>();
    found.promise.catch(() => undefined); // awaiting callers get the error
    this.#text = '';
    this.#search = { pattern, found };
    if (this.#connection === null) this.#lost(1006);
    return found.promise;
  }

  /** Returns the promise's result. Rejects with an SvcError of this message after `timeMs`. */
  async within<Value>(promise: Promise<Value>, timeMs: number, complaint: string): Promise<Value> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new SvcError(complaint)), timeMs);
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Disconnects. */
  close(): void {
    this.#signal?.removeEventListener('abort', this.#abort);
    this.#connection?.close();
  }

  #see(text: string): void {
    this.#text = (this.#text + text).slice(-KEPT_CHARACTERS);
    const match = this.#search?.pattern.exec(this.#text);
    if (match !== null && match !== undefined) this.#search?.found.resolve(match);
  }

  #lost(code: number): void {
    this.#connection = null;
    const { reason } = this.#signal ?? {};
    const aborted = this.#signal?.aborted === true && reason instanceof Error;
    this.#search?.found.reject(
      aborted ? reason : new CommandInterruptedError(`The terminal was closed with ${code} before the command ended`),
    );
  }
}
