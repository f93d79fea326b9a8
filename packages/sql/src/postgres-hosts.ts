import { parseDatabaseFault } from './database-fault.ts';
import { isServerError } from './postgres-errors.ts';
import type { PostgresAddress, PostgresUrl } from './postgres-url.ts';

/**
 * The servers of a database URL. New connections go to the one that last worked, then to the next ones in the order of
 * the URL: after a failover, no connection waits for the old server's timeout first, as it would with libpq.
 */
export class PostgresHosts {
  readonly url: PostgresUrl;
  #index = 0;
  readonly #refusals = new WeakSet();

  constructor(url: PostgresUrl) {
    this.url = url;
  }

  get count(): number {
    return this.url.addresses.length;
  }

  /** The server to connect to. */
  current(): PostgresAddress {
    const address = this.url.addresses[this.#index];
    if (address === undefined) throw new RangeError('a database URL names at least one server');
    return address;
  }

  /** This server did not accept a connection, so the next one is tried. */
  refused(address: PostgresAddress, error: unknown): void {
    if (!isWorthAnotherServer(error)) return;
    if (error instanceof Error) this.#refusals.add(error);
    if (this.current() === address) this.#index = (this.#index + 1) % this.count;
  }

  /** Whether the error comes from a server that did not accept a connection, and another one may. */
  isWorthAnother(error: unknown): boolean {
    if (!(error instanceof Error)) return false;
    return this.#refusals.has(error) || (error.cause instanceof Error && this.#refusals.has(error.cause));
  }
}

/** A wrong password is wrong everywhere, as in libpq. */
function isWorthAnotherServer(error: unknown): boolean {
  return !isServerError(error) || parseDatabaseFault(error)?.kind === 'unavailable';
}
