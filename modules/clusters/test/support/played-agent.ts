import { once } from 'node:events';
import { waitFor } from '@svc/testing';
import { WebSocket } from 'ws';

export interface Received {
  type: string;
  id: string;
  timestamp: string;
  payload: Record<string, unknown>;
}

export interface PlayedAgentOptions {
  port: number;
  token?: string;
  clusterId?: string;
  autoPong?: boolean;
  /** Announces a hello in the handshake. */
  announces?: boolean;
}

/** Fake agent for tests: a plain WebSocket that can send valid and invalid messages. */
export class PlayedAgent {
  readonly socket: WebSocket;
  readonly received: Received[] = [];
  closeCode: number | undefined;
  closeReason = '';
  pings = 0;
  /** How far its clock is ahead. */
  clockSkewMs = 0;
  #ids = 0;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => {
      this.received.push(JSON.parse((data as Buffer).toString()) as Received); // one Buffer of JSON
    });
    socket.on('ping', () => {
      this.pings += 1;
    });
    socket.on('close', (code, reason) => {
      this.closeCode = code;
      this.closeReason = reason.toString();
    });
    socket.on('error', () => undefined);
  }

  /** Sends one envelope and returns its id. */
  say(type: string, payload: object, id = `msg-${(this.#ids += 1)}`): string {
    this.socket.send(JSON.stringify({ type, id, timestamp: this.#now(), payload }));
    return id;
  }

  hello(
    instanceId: string,
    inFlight: readonly string[] = [],
    capabilities = ['deploy', 'exec', 'logs'],
    outboxId = instanceId,
  ): void {
    this.say('hello', {
      protocol: 1,
      agent_version: '9.9.9',
      instance_id: instanceId,
      outbox_id: outboxId,
      epoch: 1,
      started_at: new Date().toISOString(),
      kubernetes_version: 'v1.33.0',
      in_flight: inFlight,
      capabilities,
    });
  }

  heartbeat(cpuUsage = 0.25): void {
    this.say('heartbeat', {
      status: 'healthy',
      metrics: { cpu_usage: cpuUsage, memory_usage: 0.35, active_pods: 12 },
    });
  }

  result(commandId: string, status = 'succeeded', extra: object = {}): string {
    const at = this.#now();
    return this.say('command_result', {
      command_id: commandId,
      command: 'deploy',
      status,
      started_at: at,
      finished_at: at,
      duration_ms: 5,
      ...extra,
    });
  }

  #now(): string {
    return new Date(Date.now() + this.clockSkewMs).toISOString();
  }

  of(type: string): Received[] {
    return this.received.filter((message) => message.type === type);
  }

  /** The nth message of a type (1 = first). */
  async next(type: string, count = 1): Promise<Received> {
    return waitFor(() => this.of(type)[count - 1], { description: `message ${count} of type ${type}` });
  }

  async closed(): Promise<number> {
    return waitFor(() => this.closeCode, { description: 'the end of the connection' });
  }

  async close(): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return;
    this.socket.close();
    await this.closed();
  }

  cut(): void {
    this.socket.terminate();
  }
}

export async function connectAgent(options: PlayedAgentOptions): Promise<PlayedAgent> {
  const agent = new PlayedAgent(openSocket(options));
  await once(agent.socket, 'open');
  return agent;
}

export interface Refusal {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Record<string, unknown>;
}

/** Expects the handshake to be refused, and returns the refusal. */
export function refusedConnect(options: PlayedAgentOptions): Promise<Refusal> {
  const socket = openSocket(options);
  return new Promise((resolve, reject) => {
    socket.on('error', () => undefined);
    socket.on('open', () => reject(new Error('the handshake was accepted')));
    socket.on('unexpected-response', (_request, response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>; // the contract's body
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      });
    });
  });
}

function openSocket({ port, token, clusterId, autoPong, announces }: PlayedAgentOptions): WebSocket {
  return new WebSocket(`ws://127.0.0.1:${port}/v1/agent/connect`, {
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(announces === true ? { 'x-svc-protocol': '1' } : {}),
      ...(clusterId === undefined ? {} : { 'x-cluster-id': clusterId }),
    },
    ...(autoPong === undefined ? {} : { autoPong }),
  });
}
