import type { Clock } from '@svc/runtime';
import type { SandboxStats } from '../../../domain/driver.ts';
import type { HelperConnection } from '../../../domain/helper/helper-connection.ts';
import type { Outcome } from '../../../domain/helper/helper-stream.ts';

/** A helper that does not answer in time is not waited for. */
const READ_LIMIT_MS = 5000;

/** The figures of a sandbox that does not run. */
export const UNMEASURED: SandboxStats = {
  cpuMicroseconds: null,
  memoryBytes: null,
  pids: null,
  diskBytes: null,
  oomKills: null,
};

interface Source {
  readonly connection: HelperConnection;
  /** Shared by concurrent readers, so that a helper that never answers has one question. */
  reading: Promise<Outcome> | null;
}

/**
 * Asks the helpers what their pods use, over the connections that are open anyway: unlike a command for each reading,
 * this costs the API server nothing.
 */
export class PodUsage {
  readonly #clock: Clock;
  readonly #sources = new Map<string, Source>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Uses the connection while it is open, in place of an earlier one of the same sandbox. */
  adopt(id: string, connection: HelperConnection): void {
    const source: Source = { connection, reading: null };
    this.#sources.set(id, source);
    void connection.closed.then(() => {
      if (this.#sources.get(id) === source) this.#sources.delete(id);
    });
  }

  /** An open connection of the sandbox, which belongs to someone else; null if there is none. */
  connectionOf(id: string): HelperConnection | null {
    return this.#sources.get(id)?.connection ?? null;
  }

  /** Figures that the node's kernel does not count are null. Returns null without an open connection. */
  async read(id: string): Promise<SandboxStats | null> {
    const source = this.#sources.get(id);
    if (source === undefined) return null;
    source.reading ??= source.connection.call({ op: 'usage' }).finally(() => (source.reading = null));
    const outcome = await outcomeWithin(READ_LIMIT_MS, source.reading, this.#clock);
    if (!outcome.ok) throw new Error(`the helper does not report its usage: ${outcome.message}`);
    return parseUsage(outcome.result);
  }
}

/** Rejects if the helper does not answer in time. The operation is not cancelled. */
export async function outcomeWithin(limitMs: number, answering: Promise<Outcome>, clock: Clock): Promise<Outcome> {
  const late = Promise.withResolvers<never>();
  const lateError = new Error(`the helper has not answered within ${limitMs} ms`);
  const cancelTimer = clock.setTimer(() => late.reject(lateError), limitMs);
  try {
    return await Promise.race([answering, late.promise]);
  } finally {
    cancelTimer();
  }
}

/** The helper reports -1 for what is not counted; its word is not trusted with more than a number. */
function parseUsage(result: Readonly<Record<string, unknown>>): SandboxStats {
  const count = (name: string): number | null => {
    const value = result[name];
    return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
  };
  return {
    cpuMicroseconds: count('cpu_us'),
    memoryBytes: count('memory_bytes'),
    pids: count('pids'),
    // Of a disk. The kubelet counts the files of a pod, but reports it only to accounts that may read the whole node.
    diskBytes: count('disk_bytes'),
    oomKills: count('oom_kills'),
  };
}
