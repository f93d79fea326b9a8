import { BackgroundLoop } from '@svc/runtime';
import { createSingleClient } from './postgres-client.ts';
import { isServerError } from './postgres-errors.ts';
import type { PostgresLink } from './postgres-link.ts';
import type { PostgresAddress } from './postgres-url.ts';

/** How a watch works. */
interface PostgresWatchOptions {
  /** How long a statement waits without receiving a byte before its connection is checked. */
  readonly silenceMs: number;
  /** How long the check may take. */
  readonly probeTimeoutMs: number;
}

/**
 * Finds connections that wait for an answer that will never come: the network drops their packets, or the server has
 * left. A time limit for statements could not tell them from a migration. Instead, a second connection asks the server
 * whether it works for the silent one; if there is no answer to that either, the silent one is cut too.
 */
export class PostgresWatch {
  readonly #options: PostgresWatchOptions;
  readonly #links = new Set<PostgresLink>();
  readonly #loop: BackgroundLoop;

  constructor(options: PostgresWatchOptions) {
    this.#options = options;
    this.#loop = new BackgroundLoop({
      run: () => this.#check(),
      intervalMs: options.silenceMs,
      onError: (error) => {
        throw error; // a bug: a check handles its failures
      },
    });
    this.#loop.start();
  }

  add(link: PostgresLink): void {
    this.#links.add(link);
  }

  close(): Promise<void> {
    return this.#loop.close();
  }

  async #check(): Promise<void> {
    const byAddress = new Map<PostgresAddress, PostgresLink[]>();
    for (const link of this.#links) {
      if (link.isClosed) this.#links.delete(link);
      if (link.isClosed || !link.wasSilent()) continue;
      const links = byAddress.get(link.address) ?? [];
      byAddress.set(link.address, [...links, link]);
    }
    await Promise.all([...byAddress].map(([address, links]) => this.#judge(address, links)));
  }

  async #judge(address: PostgresAddress, links: readonly PostgresLink[]): Promise<void> {
    const pids = links.flatMap(({ session }) => (session === null ? [] : [session.pid]));
    let serving: ReadonlyMap<number, string>;
    try {
      serving = await this.#readServing(address, pids);
    } catch (error) {
      if (isServerError(error)) return; // it answers, only not to us: it may have no connection left
      for (const link of links) link.cut(new Error(`PostgreSQL at ${address.name} does not answer`, { cause: error }));
      return;
    }
    for (const link of links) {
      const { session } = link;
      if (session !== null) link.judge(serving.get(session.pid) === session.startedAt);
    }
  }

  /** The sessions that work on a statement, with their start. One that waits for its client has lost it. */
  async #readServing(address: PostgresAddress, pids: readonly number[]): Promise<ReadonlyMap<number, string>> {
    const { client, end } = createSingleClient(address, 'svc probe', this.#options.probeTimeoutMs);
    try {
      await client.connect();
      const { rows } = await client.query<{ pid: number; started_at: string }>(
        `select pid, backend_start::text as started_at from pg_stat_activity
         where pid = any($1::int[]) and state not like 'idle%' and wait_event_type is distinct from 'Client'`,
        [pids],
      );
      return new Map(rows.map((row) => [row.pid, row.started_at]));
    } finally {
      await end();
    }
  }
}
