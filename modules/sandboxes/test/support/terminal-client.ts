import { once } from 'node:events';
import { waitFor } from '@svc/testing';
import { WebSocket } from 'ws';

export interface OpenOptions {
  readonly query?: string;
  readonly protocols?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** A WebSocket client that records what it receives. */
export class TerminalClient {
  readonly socket: WebSocket;
  readonly frames: { data: Buffer; binary: boolean }[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  #text = '';
  receivedBytes = 0;
  /** Set to false for floods: then only `receivedBytes` is updated. */
  keep = true;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
    });
    socket.on('message', (data: Buffer, binary) => {
      this.receivedBytes += data.length;
      if (!this.keep) return;
      this.frames.push({ data, binary });
      this.#text += data.toString();
    });
    socket.on('error', () => undefined);
  }

  /** Rejects with `{status, body}` if the upgrade is refused. */
  static async open(url: string, id: string, options: OpenOptions = {}): Promise<TerminalClient> {
    const address = `${url.replace('http', 'ws')}/ws/terminal/${id}${options.query ?? ''}`;
    const socket = new WebSocket(address, [...(options.protocols ?? [])], { headers: { ...options.headers } });
    const client = new TerminalClient(socket);
    const refused = new Promise<never>((_, reject) => {
      socket.once('unexpected-response', (_request, response) => {
        let body = '';
        response.on('data', (chunk: Buffer) => (body += chunk.toString()));
        response.on('end', () => {
          reject(new Refusal(response.statusCode ?? 0, JSON.parse(body) as Record<string, unknown>));
          socket.terminate();
        });
      });
      socket.once('error', reject);
    });
    await Promise.race([once(socket, 'open'), refused]);
    return client;
  }

  get text(): string {
    return this.#text;
  }

  type(text: string | Uint8Array): void {
    this.socket.send(typeof text === 'string' ? Buffer.from(text) : text, { binary: true });
  }

  send(text: string): void {
    this.socket.send(text);
  }

  /** Waits until the output matches. */
  async shows(pattern: RegExp): Promise<RegExpExecArray> {
    return waitFor(() => pattern.exec(this.#text), {
      description: `${String(pattern)} in ${JSON.stringify(this.#text.slice(-500))}`,
    });
  }

  forget(): void {
    this.#text = '';
    this.frames.length = 0;
  }

  close(): Promise<{ code: number; reason: string }> {
    this.socket.close();
    return this.closed;
  }
}

export class Refusal extends Error {
  readonly status: number;
  readonly body: Record<string, unknown>;
  constructor(status: number, body: Record<string, unknown>) {
    super(`refused with ${status}`);
    this.status = status;
    this.body = body;
  }
}
