/** Many agents of the smallest kind in one process: what each of them says on the wire is what a real one says. */
import { randomUUID } from 'node:crypto';
import { delayAfterClose } from '@svc/agent/testing';
import { reconnectAdvice } from '@svc/protocol';
import { WebSocket } from 'ws';

export interface WorkerOrder {
  url: string;
  agents: { id: string; token: string }[];
}

/** Told to the parent after each change, at most ten times a second. */
export interface WorkerReport {
  connected: number;
  /** Milliseconds from each agent's loss of its connection to its next welcome, since the last report. */
  backMs: number[];
}

const HEARTBEAT_MS = 30_000;
const FIRST_CONNECTS_AT_ONCE = 64;
const RECONNECT = { minMs: 500, maxMs: 30_000 };

let url = '';
let connected = 0;
let backMs: number[] = [];

process.on('message', (order: WorkerOrder) => {
  url = order.url.replace(/^http/, 'ws');
  void connectAll(order.agents);
});
process.on('disconnect', () => process.exit(0));
setInterval(() => {
  const report: WorkerReport = { connected, backMs: backMs.splice(0) };
  process.send?.(report);
}, 100);

async function connectAll(agents: WorkerOrder['agents']): Promise<void> {
  const waiting = [...agents];
  const work = async (): Promise<void> => {
    for (let agent = waiting.shift(); agent !== undefined; agent = waiting.shift()) await live(agent);
  };
  await Promise.all(Array.from({ length: FIRST_CONNECTS_AT_ONCE }, work));
}

/** Resolves with the first welcome; the agent then lives on by itself. */
function live(agent: { id: string; token: string }): Promise<void> {
  const first = Promise.withResolvers<void>();
  const instanceId = randomUUID();
  let epoch = 0;
  let attempt = 0;
  let lostAt: number | null = null;
  const connect = (): void => {
    epoch += 1;
    let welcome = false;
    let heartbeat: NodeJS.Timeout | undefined;
    const socket = new WebSocket(`${url}/v1/agent/connect`, {
      headers: { authorization: `Bearer ${agent.token}`, 'x-cluster-id': agent.id },
      perMessageDeflate: false,
    });
    const say = (type: string, payload: object): void => {
      socket.send(JSON.stringify({ type, id: randomUUID(), timestamp: new Date().toISOString(), payload }));
    };
    socket.on('open', () => say('hello', helloOf(instanceId, epoch)));
    socket.on('message', (data) => {
      if (welcome || !(data as Buffer).includes('"welcome"')) return; // one Buffer, with the default binaryType
      welcome = true;
      attempt = 0;
      connected += 1;
      if (lostAt !== null) backMs.push(performance.now() - lostAt);
      lostAt = null;
      const beat = (): void => say('heartbeat', HEARTBEAT);
      heartbeat = setTimeout(() => {
        beat();
        heartbeat = setInterval(beat, HEARTBEAT_MS);
      }, Math.random() * HEARTBEAT_MS);
      first.resolve();
    });
    socket.on('error', () => undefined); // `close` follows
    socket.on('close', (code) => {
      clearTimeout(heartbeat);
      if (welcome) {
        connected -= 1;
        lostAt = performance.now();
      }
      setTimeout(connect, delayAfterClose(reconnectAdvice(code), attempt, RECONNECT, Math.random));
      attempt += 1;
    });
  };
  connect();
  return first.promise;
}

const HEARTBEAT = { status: 'healthy', metrics: { cpu_usage: 0.25, memory_usage: 0.35, active_pods: 12 } };

function helloOf(instanceId: string, epoch: number): object {
  return {
    protocol: 1,
    agent_version: '0.1.0',
    instance_id: instanceId,
    epoch,
    started_at: new Date().toISOString(),
    in_flight: [],
    capabilities: ['deploy', 'exec', 'logs', 'events'],
  };
}
