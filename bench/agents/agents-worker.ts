/** Many agents in one process, each with the product's own channel: its dial, hello, heartbeats and reconnects. */
import { createAgentCrowd } from '@svc/agent/testing';

export interface WorkerOrder {
  /** Environments of agents to start, beside those that run. */
  start: Record<string, string>[];
  /** So many stay; the others stop. */
  keep?: number;
}

/** Told to the parent ten times a second. */
export interface WorkerReport {
  connected: number;
  /** Of each connection since the last report: how long its agent had none, in milliseconds, and when it came. */
  back: { afterMs: number; atMs: number }[];
}

const FIRST_CONNECTS_AT_ONCE = 64;

const crowd = createAgentCrowd();
const running: { stop(): Promise<void> }[] = [];
let connected = 0;
let back: WorkerReport['back'] = [];

process.on('message', (order: WorkerOrder) => {
  for (const agent of running.splice(order.keep ?? running.length)) void agent.stop();
  void startAll(order.start);
});
process.on('disconnect', () => process.exit(0));
setInterval(() => {
  const report: WorkerReport = { connected, back: back.splice(0) };
  process.send?.(report);
}, 100);

async function startAll(environments: Record<string, string>[]): Promise<void> {
  const waiting = [...environments];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await live(next);
  };
  await Promise.all(Array.from({ length: FIRST_CONNECTS_AT_ONCE }, work));
}

/** Resolves with the first connection; the agent then lives on by itself. */
function live(environment: Record<string, string>): Promise<void> {
  const first = Promise.withResolvers<void>();
  let links = 0;
  let lostAtMs: number | undefined;
  const agent = crowd.start(environment, (isConnected) => {
    links += isConnected ? 1 : -1; // for a moment two, when a drain makes the new one before the old one goes
    if (isConnected && links === 1) {
      connected += 1;
      const atMs = Date.now();
      if (lostAtMs !== undefined) back.push({ afterMs: atMs - lostAtMs, atMs });
      first.resolve();
    } else if (!isConnected && links === 0) {
      connected -= 1;
      lostAtMs = Date.now();
    }
  });
  running.push(agent);
  return first.promise;
}
