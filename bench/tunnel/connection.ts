import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** The address of a service and the headers required for it. */
export interface Entrance {
  port: number;
  isSecure: boolean;
  /** Path prefix of the service. */
  prefix: string;
  headers: Readonly<Record<string, string>>;
}

/** A minimal HTTP/1.1 keep-alive connection, so that the load itself is not measured. */
export class LoadConnection {
  readonly #socket: Socket;
  readonly #entrance: Entrance;
  #waiting: { resolve: () => void; reject: (error: Error) => void } | null = null;
  #head = '';
  /** Body bytes still to arrive; -1 until the head is complete. */
  #missing = -1;

  private constructor(socket: Socket, entrance: Entrance) {
    this.#socket = socket;
    this.#entrance = entrance;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', (error) => this.#waiting?.reject(error));
    socket.on('close', () => this.#waiting?.reject(new Error('the connection was closed')));
  }

  static async open(entrance: Entrance): Promise<LoadConnection> {
    const { port, isSecure } = entrance;
    // The certificate belongs to a platform started by this run.
    const socket = isSecure
      ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
      : connectTcp(port, '127.0.0.1');
    await once(socket, isSecure ? 'secureConnect' : 'connect');
    return new LoadConnection(socket, entrance);
  }

  /** Sends a request and resolves with the complete response. */
  get(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.ask(path);
    });
  }

  ask(path: string): void {
    const headers = Object.entries({ host: 'localhost', ...this.#entrance.headers });
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    this.#socket.write(`GET ${this.#entrance.prefix}${path} HTTP/1.1\r\n${lines}\r\n`);
  }

  /** Stops reading. */
  stall(): void {
    this.#socket.pause();
  }

  close(): void {
    this.#waiting = null;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    if (this.#missing < 0) {
      this.#head += chunk.toString('latin1');
      const end = this.#head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = /\r\ncontent-length: *(\d+)/i.exec(this.#head)?.[1];
      if (!this.#head.startsWith('HTTP/1.1 200') || length === undefined) {
        this.#waiting?.reject(new Error(`an answer that no load can use: ${this.#head.slice(0, 300)}`));
        return;
      }
      this.#missing = Number(length) - (this.#head.length - end - 4);
      this.#head = '';
    } else {
      this.#missing -= chunk.length;
    }
    if (this.#missing > 0) return;
    this.#missing = -1;
    const { resolve } = this.#waiting ?? { resolve: () => undefined };
    this.#waiting = null;
    resolve();
  }
}
