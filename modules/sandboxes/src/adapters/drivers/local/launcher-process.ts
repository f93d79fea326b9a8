import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Logger } from '@svc/telemetry';

export interface LauncherFacts {
  readonly cgroups: string;
  readonly controllers: readonly string[];
}

export interface LauncherOptions {
  /** The helper's binary; its job `host` is the launcher. */
  readonly binary: string;
  readonly runFolder: string;
  readonly log: Logger;
}

/** What the launcher says went wrong: a cause code of the module and a message with the step. */
export class LauncherFailure extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** It was killed or crashed: what it was asked for may have happened, in part or whole. */
class LauncherLost extends LauncherFailure {
  constructor() {
    super('RUNTIME_FAILED', 'the launcher ended');
  }
}

/** A launcher that ends so often over one call ends because of it. */
const ATTEMPTS = 5;

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * The privileged process beside the platform (`sandbox-agent host`): one JSON object a line in both directions. It ends
 * with the platform, whose sandboxes go on; a launcher that died is replaced at the next call.
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

  /** Starts it if it does not run. Rejects with what it says when this machine cannot do what it needs. */
  ready(): Promise<LauncherFacts> {
    if (this.#closed) return Promise.reject(new LauncherFailure('RUNTIME_FAILED', 'the launcher is closed'));
    this.#ready ??= this.#start();
    return this.#ready;
  }

  /** Calls this each time a launcher died before it was closed; what it held is gone. */
  onEnded(listener: () => void): void {
    this.#ended = listener;
  }

  /** What a launcher that died left half-done is done again by the next one: every operation may be repeated. */
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
      // A key that interrupts the platform must not end it first: it still has to answer what runs.
      detached: true,
    });
    this.#child = child;
    return new Promise<LauncherFacts>((resolve, reject) => {
      // The greeting has id 0, as every line that answers no call.
      this.#pending.set(0, { resolve: (facts) => resolve(parseFacts(facts)), reject });
      this.#listen(child, reject);
    });
  }

  #listen(child: ChildProcessWithoutNullStreams, failed: (error: Error) => void): void {
    child.stdin.on('error', () => undefined); // the exit tells
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
    const reply = JSON.parse(line) as Record<string, unknown>; // our own binary writes one object a line
    const id = typeof reply['id'] === 'number' ? reply['id'] : 0;
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (reply['ok'] === true) {
      pending?.resolve(reply['result']);
      return;
    }
    const { code, message } = (reply['error'] ?? {}) as Record<string, unknown>; // the other half of its answers
    const text = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise);
    pending?.reject(new LauncherFailure(text(code, 'RUNTIME_FAILED'), text(message, 'no reason')));
  }
}

function parseFacts(value: unknown): LauncherFacts {
  const { cgroups, controllers } = value as Partial<LauncherFacts>; // our own binary's greeting
  return { cgroups: cgroups ?? 'unknown', controllers: controllers ?? [] };
}
