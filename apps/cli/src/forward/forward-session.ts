import { dialMux, MuxDialError, MuxSession, type MuxStream } from '@svc/mux';
import { parseRefusal } from '../client/parse-refusal.ts';
import { CommandFailure } from '../client/command-failure.ts';

export interface ForwardTarget {
  /** URL of the platform. */
  url: string;
  token: string;
  clusterId: string;
  teamUuid: string | undefined;
  service: string;
}

const DIAL_TIMEOUT_MS = 15_000;

/** The single session with the platform, opened on demand and reopened after a loss. */
export class ForwardSession {
  readonly #target: ForwardTarget;
  readonly #signal: AbortSignal;
  #session: Promise<MuxSession> | null = null;

  constructor(target: ForwardTarget, signal: AbortSignal) {
    this.#target = target;
    this.#signal = signal;
  }

  /** Opens a connection to the service. Rejects with the platform's message on a refusal. */
  async open(): Promise<MuxStream> {
    const session = await this.connect();
    return session.open();
  }

  async connect(): Promise<MuxSession> {
    const current = await this.#session?.catch(() => null);
    if (current?.acceptsStreams === true) return current;
    const dialled = this.#dial();
    this.#session = dialled;
    return dialled;
  }

  async close(): Promise<void> {
    const session = await this.#session?.catch(() => null);
    await session?.drain(500);
  }

  async #dial(): Promise<MuxSession> {
    const { url, token, clusterId, teamUuid, service } = this.#target;
    const address = new URL(
      `${url.replace(/(?<!\/)\/+$/, '')}/v1/clusters/${clusterId}/forward/${encodeURIComponent(service)}`,
    );
    try {
      const { transport } = await dialMux({
        url: address,
        headers: {
          authorization: `Bearer ${token}`,
          'user-agent': 'svc',
          ...(teamUuid === undefined ? {} : { 'x-team-uuid': teamUuid }),
        },
        timeoutMs: DIAL_TIMEOUT_MS,
        signal: this.#signal,
      });
      return new MuxSession(transport, { role: 'client' });
    } catch (cause) {
      if (!(cause instanceof MuxDialError)) throw cause;
      if (cause.status !== 0) throw parseRefusal(cause.status, cause.body);
      throw new CommandFailure(`cannot reach the platform at ${url}: ${cause.message}`, { cause });
    }
  }
}
