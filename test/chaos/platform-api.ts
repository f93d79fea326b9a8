import { setTimeout as delay } from 'node:timers/promises';
import type { ReadyLine } from '../system/running-platform.ts';

export interface SeenCommand {
  status: string;
  created_at: string;
  finished_at: string | null;
  error: { code: string; message: string } | null;
}

export interface SeenEvent {
  event_type: string;
  namespace: string;
  resource: string;
  details: Record<string, unknown>;
}

const FINISHED: ReadonlySet<string> = new Set(['succeeded', 'failed', 'timed_out', 'cancelled', 'superseded', 'lost']);
const RETRY_MS = 200;

export function isFinished({ status }: SeenCommand): boolean {
  return FINISHED.has(status);
}

/** A client that retries with the same key while the platform is down. */
export class PlatformApi {
  /** Null while it is down. */
  platform: ReadyLine | null = null;
  readonly #name = 'chaos';

  addCluster(): Promise<{ id: string; name: string; token: string }> {
    return this.#call('POST', '/v1/clusters', { name: this.#name });
  }

  async isConnected(): Promise<boolean> {
    return (await this.#call<{ connected: boolean }>('GET', `/v1/clusters/${this.#name}`)).connected;
  }

  /**
   * Returns the command's id once the platform has accepted it and it is done, or five seconds later: a busy machine
   * gets fewer commands, not a longer queue. Null if the signal aborts first.
   */
  async submit(kind: 'deploy' | 'exec', body: object, key: string, signal: AbortSignal): Promise<string | null> {
    while (!signal.aborted) {
      try {
        const answer = await this.#call<{ id: string; command_id?: string }>(
          'POST',
          `/v1/clusters/${this.#name}/${kind}?wait=5s`,
          { ...body, queue_if_offline: true },
          { 'idempotency-key': key },
        );
        return answer.command_id ?? answer.id;
      } catch (error) {
        if (error instanceof Refused && error.status < 500 && error.status !== 429) throw error;
        await delay(RETRY_MS);
      }
    }
    return null;
  }

  /** Null: unknown to the platform. */
  async command(id: string): Promise<SeenCommand | null> {
    try {
      return await this.#call('GET', `/v1/clusters/${this.#name}/commands/${id}`);
    } catch (error) {
      if (error instanceof Refused && error.status === 404) return null;
      throw error;
    }
  }

  /** All events, newest first. */
  async events(namespace: string): Promise<SeenEvent[]> {
    const all: SeenEvent[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page: { events: SeenEvent[]; next_cursor: string | null } = await this.#call(
        'GET',
        `/v1/clusters/${this.#name}/events?namespace=${namespace}&page_size=200${query}`,
      );
      all.push(...page.events);
      cursor = page.next_cursor;
    } while (cursor !== null);
    return all;
  }

  /** The body of a followed log; rejects while the platform is down. */
  async logs(pod: string, namespace: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const { url, token } = this.#present();
    const path = `/v1/clusters/${this.#name}/logs?pod=${pod}&namespace=${namespace}&follow=true&tail_lines=0`;
    const response = await fetch(new URL(path, url), { headers: { authorization: `Bearer ${token}` }, signal });
    if (!response.ok || response.body === null) throw new Refused(response.status, await response.text());
    return response.body;
  }

  #present(): ReadyLine {
    if (this.platform === null) throw new Error('the platform is away');
    return this.platform;
  }

  async #call<Answer>(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const { url, token } = this.#present();
    const response = await fetch(new URL(path, url), {
      method,
      headers: {
        ...headers,
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    });
    const text = await response.text();
    if (!response.ok) throw new Refused(response.status, text);
    return JSON.parse(text) as Answer; // the caller names the contract's type
  }
}

export class Refused extends Error {
  readonly status: number;

  constructor(status: number, text: string) {
    super(`the platform answered ${status}: ${text.slice(0, 300)}`);
    this.name = 'Refused';
    this.status = status;
  }
}
