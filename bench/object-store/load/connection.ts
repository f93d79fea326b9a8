import { connect, type Socket } from 'node:net';
import { once } from 'node:events';

export interface Answer {
  readonly status: number;
  readonly bodyBytes: number;
  /** Kept only on request. */
  readonly body: string;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
const READ_BUFFER_BYTES = 256 * 1024;
const ANSWER_TIMEOUT_MS = 60_000;

/**
 * One keep-alive connection of a minimal client: it writes prepared bytes and reads into one buffer, checking only the
 * status and the end of the response. One request at a time.
 */
export class Connection {
  readonly #socket: Socket;
  #head: Buffer = Buffer.alloc(0);
  /** Null until the head is complete. */
  #body: { status: number; left: number | 'chunked'; received: number; tail: Buffer; kept: Buffer[] } | null = null;
  #waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void; keep: boolean } | null = null;

  private constructor(port: number, host: string) {
    const buffer = Buffer.allocUnsafe(READ_BUFFER_BYTES);
    const callback = (length: number, bytes: Uint8Array): boolean => {
      this.#read(Buffer.from(bytes.buffer, bytes.byteOffset, length));
      return true;
    };
    this.#socket = connect({ port, host, noDelay: true, onread: { buffer, callback } });
    this.#socket.setTimeout(ANSWER_TIMEOUT_MS, () => this.#socket.destroy(new Error('no answer in time')));
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('the engine closed the connection')));
  }

  static async open(endpoint: string): Promise<Connection> {
    const { hostname, port } = new URL(endpoint);
    const connection = new Connection(Number(port), hostname);
    await once(connection.#socket, 'connect');
    return connection;
  }

  /** Sends head and body as raw bytes. Rejects if the connection ends before the response. */
  send(head: Uint8Array, body?: Uint8Array, keep = false): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject, keep };
      if (body === undefined) this.#socket.write(head);
      else {
        this.#socket.cork();
        this.#socket.write(head);
        this.#socket.write(body);
        this.#socket.uncork();
      }
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(bytes: Buffer): void {
    let rest = bytes;
    if (this.#body === null) {
      const all = this.#head.length === 0 ? bytes : Buffer.concat([this.#head, bytes]);
      const end = all.indexOf(HEAD_END);
      if (end === -1) {
        this.#head = Buffer.from(all); // the read buffer is reused
        return;
      }
      const head = all.toString('latin1', 0, end).toLowerCase();
      const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
      const left = length === undefined ? 'chunked' : Number(length);
      const status = Number(head.slice(9, 12));
      this.#head = Buffer.alloc(0);
      this.#body = { status, left: status === 204 ? 0 : left, received: 0, tail: Buffer.alloc(0), kept: [] };
      rest = all.subarray(end + HEAD_END.length);
    }
    this.#readBody(rest);
  }

  #readBody(bytes: Buffer): void {
    const body = this.#body;
    if (body === null) return;
    body.received += bytes.length;
    if (this.#waiting?.keep === true) body.kept.push(Buffer.from(bytes));
    if (body.left === 'chunked') {
      body.tail = Buffer.concat([body.tail, bytes.subarray(-LAST_CHUNK.length)]).subarray(-LAST_CHUNK.length);
      if (!body.tail.equals(LAST_CHUNK)) return;
    } else {
      body.left -= bytes.length;
      if (body.left > 0) return;
    }
    const waiting = this.#waiting;
    this.#waiting = null;
    this.#body = null;
    const text = Buffer.concat(body.kept).toString();
    waiting?.resolve({ status: body.status, bodyBytes: body.received, body: text });
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
    this.#waiting = null;
  }
}
