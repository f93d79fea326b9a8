import type { HelperConnection, HelperRequest } from '../helper/helper-connection.ts';
import type { HelperStream, Outcome, StreamListener } from '../helper/helper-stream.ts';
import type { ProcessStream } from './process-stream.ts';

export interface SessionRequests {
  readonly attach: HelperRequest;
  /** Null: do not create a missing session. */
  readonly start: HelperRequest | null;
}

/** Another client can create or end the session between two tries. */
const MOST_TRIES = 3;

/** Attaches to a session, or creates it if it does not exist. Input waits until then. */
export class SessionStream implements ProcessStream {
  readonly outcome: Promise<Outcome>;
  readonly #connection: HelperConnection;
  readonly #listener: StreamListener;
  readonly #ready = Promise.withResolvers<void>();
  #current: HelperStream;
  #started = false;
  #abandoned = false;

  constructor(connection: HelperConnection, { attach, start }: SessionRequests, listener: StreamListener) {
    this.#connection = connection;
    this.#listener = listener;
    this.#current = this.#open(attach);
    this.outcome = this.#settle(attach, start).finally(() => this.#ready.resolve());
  }

  async write(bytes: Uint8Array): Promise<boolean> {
    await this.#ready.promise;
    return await this.#current.write(bytes);
  }

  control(message: Readonly<Record<string, unknown>>): void {
    if (this.#started) this.#current.control(message);
    else void this.#ready.promise.then(() => this.#current.control(message));
  }

  finishInput(): void {
    this.control({ type: 'eof' });
  }

  consumed(bytes: number): void {
    this.#current.consumed(bytes);
  }

  abandon(): void {
    this.#abandoned = true;
    this.#current.abandon();
  }

  async #settle(attach: HelperRequest, start: HelperRequest | null): Promise<Outcome> {
    for (let tries = 1; ; tries += 1) {
      const attached = await this.#current.outcome;
      if (start === null || this.#abandoned || codeOf(attached) !== 'NO_SUCH_SESSION') return attached;
      this.#current = this.#open(start);
      const made = await this.#current.outcome;
      if (this.#abandoned || codeOf(made) !== 'SESSION_EXISTS' || tries === MOST_TRIES) return made;
      this.#current = this.#open(attach);
    }
  }

  #open(request: HelperRequest): HelperStream {
    return this.#connection.start(request, {
      ...this.#listener,
      event: (event) => {
        if (event['type'] === 'started') {
          this.#started = true;
          this.#ready.resolve();
        }
        this.#listener.event?.(event);
      },
    });
  }
}

function codeOf(outcome: Outcome): string | null {
  return outcome.ok ? null : outcome.code;
}
