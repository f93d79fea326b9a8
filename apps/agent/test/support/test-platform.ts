import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  PROTOCOL_HEADER,
  createAgentMessageDecoder,
  decodeEnvelope,
  type AgentMessage,
  type AgentMessageType,
  type AgentPayloads,
  type Envelope,
  type PlatformMessageType,
  type PlatformPayloads,
} from '@svc/protocol';
import { waitFor } from '@svc/testing';
import { WebSocketServer, type WebSocket } from 'ws';

export interface TestPlatformOptions {
  /** `contract` = knows only the contract's types: no welcome, no acknowledgement. */
  mode?: 'svc' | 'contract';
  /** Announces a welcome in the handshake. */
  announces?: boolean;
  /** False: as behind a proxy that drops pings. */
  autoPong?: boolean;
  token?: string;
  acknowledgeResults?: boolean;
  acknowledgeEvents?: boolean;
}

export interface Refusal {
  status: number;
  body: string;
  headers?: Record<string, string>;
}

export interface TestConnection {
  readonly socket: WebSocket;
  readonly headers: IncomingMessage['headers'];
  readonly received: AgentMessage[];
  /** Envelopes as received, including unknown types. */
  readonly envelopes: Envelope[];
  closeCode: number | null;
}

/** A fake platform over real sockets: sends what the test asks for and records what it receives. */
export class TestPlatform {
  readonly connections: TestConnection[] = [];
  readonly handshakes: IncomingMessage['headers'][] = [];
  refusal: Refusal | null = null;
  readonly #options: TestPlatformOptions;
  readonly #server: Server;
  readonly #sockets: WebSocketServer;
  readonly #decoder = createAgentMessageDecoder();
  #nextId = 1;
  /** Last event sequence stored per outbox, kept across connections like a real platform. */
  readonly #storedSeq = new Map<string, number>();

  private constructor(server: Server, options: TestPlatformOptions) {
    this.#server = server;
    this.#options = options;
    this.#sockets = new WebSocketServer({ noServer: true, autoPong: options.autoPong ?? true });
    if (options.announces === true) this.#sockets.on('headers', (headers) => headers.push(`${PROTOCOL_HEADER}: 1`));
    server.on('upgrade', (request, socket, head) => {
      this.handshakes.push(request.headers);
      const refusal = this.#decideRefusal(request);
      if (refusal !== null) {
        const extra = Object.entries(refusal.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
        socket.end(
          `HTTP/1.1 ${refusal.status} Refused\r\n${extra.join('')}content-length: ${Buffer.byteLength(refusal.body)}\r\nconnection: close\r\n\r\n${refusal.body}`,
        );
        return;
      }
      this.#sockets.handleUpgrade(request, socket, head, (webSocket) => this.#serve(webSocket, request));
    });
  }

  static async start(options: TestPlatformOptions = {}): Promise<TestPlatform> {
    const server = createServer((_request, response) => response.writeHead(404).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new TestPlatform(server, options);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // TCP: never a string
  }

  /** The newest open connection. */
  get connection(): TestConnection {
    const open = this.connections.findLast(({ closeCode }) => closeCode === null);
    if (open === undefined) throw new Error('no agent is connected');
    return open;
  }

  /** Sends over the newest connection; returns the envelope's id. */
  send<Type extends PlatformMessageType>(type: Type, payload: PlatformPayloads[Type], id?: string): string {
    const messageId = id ?? `cmd-${this.#nextId++}`;
    this.sendText(JSON.stringify({ type, id: messageId, timestamp: new Date().toISOString(), payload }));
    return messageId;
  }

  sendText(text: string): void {
    this.connection.socket.send(text);
  }

  /** All messages of a type, over all connections. */
  messages<Type extends AgentMessageType>(type: Type): AgentPayloads[Type][] {
    return this.connections
      .flatMap(({ received }) => received)
      .filter((message) => message.type === type)
      .map(({ payload }) => payload as AgentPayloads[Type]); // the filter selected the type
  }

  /** Waits for a message that has been or will be received. */
  waitForMessage<Type extends AgentMessageType>(
    type: Type,
    matches: (payload: AgentPayloads[Type]) => boolean = () => true,
    timeoutMs = 30_000,
  ): Promise<AgentPayloads[Type]> {
    const description = `a message of type ${type}`;
    return waitFor(() => this.messages(type).find(matches), { timeoutMs, description });
  }

  result(commandId: string, timeoutMs?: number): Promise<AgentPayloads['command_result']> {
    return this.waitForMessage('command_result', (payload) => payload.command_id === commandId, timeoutMs);
  }

  async close(): Promise<void> {
    for (const { socket } of this.connections) socket.terminate();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #decideRefusal(request: IncomingMessage): Refusal | null {
    if (this.refusal !== null) return this.refusal;
    if (request.url !== '/v1/agent/connect') return { status: 404, body: '' };
    const { token } = this.#options;
    if (token === undefined || request.headers.authorization === `Bearer ${token}`) return null;
    return { status: 401, body: '{"error":{"code":"UNAUTHORIZED","message":"unknown token","details":{}}}' };
  }

  #serve(socket: WebSocket, request: IncomingMessage): void {
    const connection: TestConnection = {
      socket,
      headers: request.headers,
      received: [],
      envelopes: [],
      closeCode: null,
    };
    this.connections.push(connection);
    socket.on('error', () => undefined); // `close` follows, which the tests check
    socket.on('close', (code) => (connection.closeCode = code));
    socket.on('message', (data) => {
      const envelope = decodeEnvelope((data as Buffer).toString());
      connection.envelopes.push(envelope);
      const decoded = this.#decoder.check(envelope);
      if (!decoded.known) throw new Error(`the agent sent an unknown type ${envelope.type}`);
      connection.received.push(decoded.message);
      if (this.#options.mode !== 'contract') this.#answer(connection, decoded.message);
    });
  }

  #answer(connection: TestConnection, message: AgentMessage): void {
    const reply = <Type extends PlatformMessageType>(type: Type, payload: PlatformPayloads[Type]): void => {
      const envelope = { type, id: `srv-${this.#nextId++}`, timestamp: new Date().toISOString(), payload };
      connection.socket.send(JSON.stringify(envelope));
    };
    const hello = connection.received.find((each) => each.type === 'hello');
    const instanceId = hello?.type === 'hello' ? hello.payload.instance_id : '';
    const outboxId = hello?.type === 'hello' ? (hello.payload.outbox_id ?? instanceId) : '';
    if (message.type === 'hello') {
      reply('welcome', {
        protocol: 1,
        session_id: `session-${this.connections.length}`,
        cluster_id: 'cls-123abc',
        resumed: this.#storedSeq.has(outboxId),
        last_received_seq: this.#storedSeq.get(outboxId) ?? 0,
        server_time: new Date().toISOString(),
        acknowledges_output: true,
        heartbeat_interval_seconds: 30,
        limits: { messages_per_minute: 1000, messages_burst: 100, frame_size_bytes: 1_048_576 },
      });
    } else if (message.type === 'ping') {
      reply('pong', {});
    } else if (message.type === 'command_output') {
      reply('output_ack', { outputs: [{ command_id: message.payload.command_id, seq: message.payload.seq }] });
    } else if (message.type === 'command_result' && this.#options.acknowledgeResults !== false) {
      reply('result_ack', { command_ids: [message.payload.command_id] });
    } else if (message.type === 'event' && this.#options.acknowledgeEvents !== false) {
      const seq = message.payload.seq ?? 0;
      this.#storedSeq.set(outboxId, Math.max(this.#storedSeq.get(outboxId) ?? 0, seq));
      reply('event_ack', { instance_id: instanceId, seq });
    }
  }
}
