import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Logger } from '@svc/telemetry';

export interface LauncherFacts {
  readonly cgroups: string;
  readonly controllers: readonly string[];
}

export interface LauncherOptions {
  /** The helper binary; its `host` command is the launcher. */
  readonly binary: string;
  readonly runFolder: string;
  readonly log: Logger;
}

/** A failure reported by the launcher: a cause code of the module and a message with the step. */
export class LauncherFailure extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The launcher crashed or was killed: the call may have happened, partly or completely. */
class LauncherLost extends LauncherFailure {
  constructor() {
    super('RUNTIME_FAILED', 'the launcher ended');
  }
}

/** If this many launchers end during one call, the call is the cause. */
const ATTEMPTS = 5;

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * The privileged process beside the platform (`sandbox-agent host`). It exchanges one JSON object per line in both
 * directions. It ends with the platform, while sandboxes keep running; a dead launcher is replaced at the next call.
 */
export class LauncherProcess {
  readonly #options: LauncherOptions;
  readonly #pending = new Map<number, Pending>();
  #child: ChildProcessWithoutNullStreams | null = null;
  #ready: Promise<LauncherFacts> | null = null;
  #exited: Promise<void> = Promise.resolve();
  #nextId = 1;
  #closed = false;
  #ended: () => void = () => undefined;

  constructor(options: LauncherOptions) {
    this.#options = options;
  }

  /**
   * Starts the launcher if needed. Rejects with the launcher's error if this machine does not meet its requirements.
   */
  ready(): Promise<LauncherFacts> {
    if (this.#closed) return Promise.reject(new LauncherFailure('RUNTIME_FAILED', 'the launcher is closed'));
    this.#ready ??= this.#start();
    return this.#ready;
  }

  /** Sets the listener for launchers that die before `close`, which loses all their state. */
  onEnded(listener: () => void): void {
    this.#ended = listener;
  }

  /** Calls an operation. If the launcher dies, the next one repeats it: every operation is idempotent. */
  async call(op: string, parameters: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#ask(op, parameters);
      } catch (error) {
        if (!(error instanceof LauncherLost) || attempt >= ATTEMPTS || this.#closed) throw error;
        this.#options.log.warn(
          { op, sandbox: parameters['sandbox'], attempt },
          'the launcher ended; asking the next one',
        );
      }
    }
  }

  async #ask(op: string, parameters: Readonly<Record<string, unknown>>): Promise<unknown> {
    await this.ready();
    const child = this.#child;
    if (child === null) throw new LauncherLost();
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      child.stdin.write(`${JSON.stringify({ id, op, ...parameters })}\n`);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#child?.stdin.end();
    await this.#exited;
  }

  #start(): Promise<LauncherFacts> {
    const child = spawn(this.#options.binary, ['host', '--run', this.#options.runFolder], {
      cwd: '/',
      env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
      stdio: ['pipe', 'pipe', 'pipe'],
      // So that Ctrl-C does not end it before the platform, which still has to answer pending requests.
      detached: true,
    });
    this.#child = child;
    return new Promise<LauncherFacts>((resolve, reject) => {
      // The greeting has id 0, like every line that does not answer a call.
      this.#pending.set(0, { resolve: (facts) => resolve(parseFacts(facts)), reject });
      this.#listen(child, reject);
    });
  }

  #listen(child: ChildProcessWithoutNullStreams, failed: (error: Error) => void): void {
    child.stdin.on('error', () => undefined); // the exit reports it
    createInterface({ input: child.stdout }).on('line', (line) => this.#answer(line));
    createInterface({ input: child.stderr }).on('line', (line) => this.#options.log.warn({ line }, 'launcher'));
    this.#exited = new Promise((resolve) => {
      const over = (error: Error): void => {
        if (this.#child === child) {
          this.#child = null;
          this.#ready = null;
        }
        failed(error);
        for (const pending of this.#pending.values()) pending.reject(error);
        this.#pending.clear();
        resolve();
        if (!this.#closed) this.#ended();
      };
      child.once('error', (error) => over(new LauncherFailure('RUNTIME_FAILED', error.message)));
      child.once('close', () => over(new LauncherLost()));
    });
  }

  #answer(line: string): void {
    const reply = JSON.parse(line) as Record<string, unknown>; // our own binary writes one object per line
    const id = typeof reply['id'] === 'number' ? reply['id'] : 0;
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (reply['ok'] === true) {
      pending?.resolve(reply['result']);
      return;
    }
    const { code, message } = (reply['error'] ?? {}) as Record<string, unknown>; // the error part of its answers
    const text = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise);
    pending?.reject(new LauncherFailure(text(code, 'RUNTIME_FAILED'), text(message, 'no reason')));
  }
}

function parseFacts(value: unknown): LauncherFacts {
  const { cgroups, controllers } = value as Partial<LauncherFacts>; // our own binary's greeting
  return { cgroups: cgroups ?? 'unknown', controllers: controllers ?? [] };
}

/** The fields of an answer: the launcher's answers are JSON objects from our own binary. */
export function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** The sandboxes in the answer of the launcher to `list`. */
export function sandboxesIn(answer: unknown): Readonly<Record<string, unknown>>[] {
  const { sandboxes } = fields(answer);
  return Array.isArray(sandboxes) ? sandboxes.map(fields) : [];
}
