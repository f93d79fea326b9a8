import { Connection } from './connection.ts';

export interface PreparedRequest {
  readonly head: Uint8Array;
  readonly body?: Uint8Array;
}

export interface LoadOptions {
  readonly endpoint: string;
  readonly connections: number;
  /** The round ends after this time, or when all requests are sent. */
  readonly milliseconds: number;
  /** Starts over when all requests are sent. */
  readonly repeat: boolean;
}

export interface LoadResult {
  readonly requests: number;
  readonly bytes: number;
  readonly seconds: number;
  /** Median and 99th percentile of the time from the first byte written to the last byte read. */
  readonly medianMs: number;
  readonly p99Ms: number;
}

/**
 * Every connection sends the next request when the previous response is complete. Anything but a 2xx aborts the
 * measurement.
 */
export async function runLoad(requests: readonly PreparedRequest[], options: LoadOptions): Promise<LoadResult> {
  const connections = await Promise.all(
    Array.from({ length: options.connections }, () => Connection.open(options.endpoint)),
  );
  const latencies: number[] = [];
  let next = 0;
  let bytes = 0;
  try {
    const startedAt = performance.now();
    const deadline = startedAt + options.milliseconds;
    const work = async (connection: Connection): Promise<void> => {
      for (;;) {
        const sentAt = performance.now();
        if (sentAt >= deadline) return;
        const request = requests[options.repeat ? next++ % requests.length : next++];
        if (request === undefined) return;
        const { status, bodyBytes } = await connection.send(request.head, request.body);
        if (status < 200 || status > 299) throw new Error(`an engine answered ${status}`);
        latencies.push(performance.now() - sentAt);
        bytes += bodyBytes + (request.body?.length ?? 0);
      }
    };
    await Promise.all(connections.map(work));
    const seconds = (performance.now() - startedAt) / 1000;
    const sorted = latencies.toSorted((left, right) => left - right);
    const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
    return { requests: sorted.length, bytes, seconds, medianMs: at(0.5), p99Ms: at(0.99) };
  } finally {
    for (const connection of connections) connection.close();
  }
}

/**
 * Sends one request on its own connection and keeps the response; for preparation. Rejects with the response unless it
 * is 2xx.
 */
export async function ask(endpoint: string, head: Uint8Array, body?: Uint8Array): Promise<string> {
  const connection = await Connection.open(endpoint);
  try {
    const answer = await connection.send(head, body, true);
    if (answer.status < 200 || answer.status > 299) throw new Error(`answered ${answer.status}: ${answer.body}`);
    return answer.body;
  } finally {
    connection.close();
  }
}
