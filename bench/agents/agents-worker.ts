/** Runs many agents in one process, each with the product's own channel: dial, hello, heartbeats and reconnects. */
import { createAgentCrowd } from '@svc/agent/testing';

export interface WorkerOrder {
  /** Environments of further agents to start. */
  start: Record<string, string>[];
  /** Number of agents to keep; the others stop. */
  keep?: number;
}

/** Sent to the parent ten times a second. */
export interface WorkerReport {
  connected: number;
  /**
   * Reconnects since the last report: how long the agent was disconnected, and when it reconnected, in milliseconds.
   */
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

/** Resolves with the first connection; the agent then keeps running. */
function live(environment: Record<string, string>): Promise<void> {
  const first = Promise.withResolvers<void>();
  let links = 0;
  let lostAtMs: number | undefined;
  const agent = crowd.start(environment, (isConnected) => {
    links += isConnected ? 1 : -1; // briefly two, since a drain opens the new one before closing the old one
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
