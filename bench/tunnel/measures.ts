import { setTimeout as delay } from 'node:timers/promises';
import { LoadConnection, type Entrance } from './connection.ts';

async function withConnections<Result>(
  entrance: Entrance,
  count: number,
  work: (connections: LoadConnection[]) => Promise<Result>,
): Promise<Result> {
  const connections = await Promise.all(Array.from({ length: count }, () => LoadConnection.open(entrance)));
  try {
    return await work(connections);
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** MiB/s of this many concurrent downloads. */
export function bulk(entrance: Entrance, streams: number, sizeMiB: number): Promise<number> {
  return withConnections(entrance, streams, async (connections) => {
    const sizeBytes = Math.floor((sizeMiB * 1024 * 1024) / streams);
    const startedMs = performance.now();
    await Promise.all(connections.map((connection) => connection.get(`/bytes?size=${sizeBytes}`)));
    return sizeMiB / ((performance.now() - startedMs) / 1000);
  });
}

/** Requests per second of 1 KiB over 32 persistent connections. */
export function requests(entrance: Entrance, seconds: number): Promise<number> {
  return withConnections(entrance, 32, async (connections) => {
    let count = 0;
    const startedMs = performance.now();
    const untilMs = startedMs + seconds * 1000;
    const run = async (connection: LoadConnection): Promise<void> => {
      while (performance.now() < untilMs) {
        await connection.get('/');
        count += 1;
      }
    };
    await Promise.all(connections.map(run));
    return count / ((performance.now() - startedMs) / 1000);
  });
}

/** Median of sequential single requests, in milliseconds. */
export function latency(entrance: Entrance, count: number): Promise<number> {
  return withConnections(entrance, 1, async ([connection]) => {
    const times: number[] = [];
    for (let index = 0; index < count + 50; index += 1) {
      const startedMs = performance.now();
      await connection?.get('/');
      if (index >= 50) times.push(performance.now() - startedMs);
    }
    return times.toSorted((left, right) => left - right)[Math.floor(times.length / 2)] ?? Number.NaN;
  });
}

/** MiB by which the processes' memory grows while downloads of 1 GiB stall. */
export function stalled(entrance: Entrance, streams: number, memoryMiB: () => number): Promise<number> {
  return withConnections(entrance, streams, async (connections) => {
    const before = memoryMiB();
    for (const connection of connections) {
      connection.ask(`/bytes?size=${1024 ** 3}`);
      connection.stall();
    }
    await delay(3000);
    return memoryMiB() - before;
  });
}
