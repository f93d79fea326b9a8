import type { Duplex } from 'node:stream';
import { Socket } from 'node:net';
import type { PostgresAddress } from './postgres-url.ts';

/** The session of the server that serves a connection. The pid alone may be used again. */
interface ServerSession {
  readonly pid: number;
  readonly startedAt: string;
}

/** A probe says this twice in a row before the connection is cut: the answer may have been on its way. */
const IDLE_VERDICTS = 2;

/** One connection to PostgreSQL, and whether it waits for an answer that does not come. */
export class PostgresLink {
  readonly address: PostgresAddress;
  readonly #stream: () => Duplex;
  /** Null behind a pooler, which names its own sessions. */
  session: ServerSession | null = null;
  #pending = 0;
  #bytesBefore: number | null = null;
  #idleVerdicts = 0;

  /** `stream` returns the connection's current stream, which TLS replaces. */
  constructor(address: PostgresAddress, stream: () => Duplex) {
    this.address = address;
    this.#stream = stream;
  }

  /** A statement was sent. */
  sent(): void {
    this.#pending += 1;
  }

  /** Its result or its error arrived. */
  answered(): void {
    this.#pending -= 1;
  }

  get isClosed(): boolean {
    return this.#stream().destroyed;
  }

  /** Whether statements waited since the previous call without receiving a byte. */
  wasSilent(): boolean {
    const bytes = this.#pending === 0 ? null : bytesReadBy(this.#stream());
    const isSilent = bytes !== null && bytes === this.#bytesBefore;
    this.#bytesBefore = bytes;
    if (!isSilent) this.#idleVerdicts = 0;
    return isSilent;
  }

  /** The server was asked whether it works on a statement of this connection. */
  judge(isServing: boolean): void {
    this.#idleVerdicts = isServing ? 0 : this.#idleVerdicts + 1;
    if (this.#idleVerdicts >= IDLE_VERDICTS) this.cut(new Error('the answer of PostgreSQL was lost on its way'));
  }

  /** Fails everything that waits. */
  cut(reason: Error): void {
    this.#stream().destroy(reason);
  }
}

function bytesReadBy(stream: Duplex): number | null {
  return stream instanceof Socket ? stream.bytesRead : null;
}
