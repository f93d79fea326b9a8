import { Socket } from 'node:net';
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { PostgresAddress } from './postgres-url.ts';

/** Loaded when the first connection opens: SQLite installations save its 8 MB. */
export function loadDriver(): typeof pg {
  // A CommonJS package, so `require` returns the same as `import pg from 'pg'`.
  return createRequire(import.meta.url)('pg') as typeof pg;
}

/** A connection outside the pool. */
interface SingleClient {
  readonly client: pg.Client;
  /** Says goodbye if the server still listens. In any case, nothing of the connection is left. */
  end(): Promise<void>;
}

/** Creates a connection of its own, whose statements all answer within the timeout. The caller connects. */
export function createSingleClient(address: PostgresAddress, name: string, timeoutMs: number): SingleClient {
  const { Client } = loadDriver();
  const socket = new Socket();
  const client = new Client({
    connectionString: address.connectionString,
    application_name: name,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    pipeline: true, // several statements may wait
    keepAlive: true,
    stream: () => socket,
  });
  client.on('error', () => undefined); // the pending statement fails too
  const end = async (): Promise<void> => {
    const ended = client.end().catch(() => undefined); // already lost
    await Promise.race([ended, delay(500, undefined, { ref: false })]);
    socket.destroy();
  };
  return { client, end };
}
