import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A request of a command. */
export interface Recorded {
  /** `UPGRADE` for a connection that leaves HTTP, `S3` for every request with an S3 signature. */
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Null while there is no answer. */
  status: number | null;
}

/** Stands between commands and the platform, and records what they ask for. */
export class Recorder {
  #server: Server;
  readonly #platformPort: number;
  readonly #sockets = new Set<Duplex>();
  #requests: Recorded[] = [];
  /** Answers every change itself, so that nothing happens on the platform. Only sign-ins go through. */
  isDry = false;

  constructor(platformPort: number) {
    this.#platformPort = platformPort;
    this.#server = this.#createServer();
  }

  #createServer(): Server {
    const server = createServer((request, response) => this.#serve(request, response));
    return server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.#upgrade(request, socket, head),
    );
  }

  /** Forgets the requests so far, and takes a new port: a command that was interrupted may still send one to the old. */
  async listen(): Promise<void> {
    if (this.#server.listening) await this.close();
    this.clear();
    this.#server = this.#createServer();
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`; // of a TCP listener
  }

  /** The requests since the last call of `listen` or `clear`. */
  get requests(): readonly Recorded[] {
    return this.#requests;
  }

  clear(): void {
    this.#requests = [];
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #note({ url = '/' }: IncomingMessage, method: string): Recorded {
    const recorded: Recorded = { method, path: url.split('?', 1)[0] ?? '/', status: null };
    this.#requests.push(recorded);
    return recorded;
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const { method = 'GET', url = '/', headers } = request;
    const isS3 = headers.authorization?.startsWith('AWS4-') === true;
    const recorded = this.#note(request, isS3 ? 'S3' : method);
    if (isS3) {
      request.resume();
      recorded.status = 404;
      response.writeHead(404).end();
      return;
    }
    const isChange = method !== 'GET' && method !== 'HEAD' && url !== '/api/auth/login';
    if (this.isDry && isChange) {
      request.resume();
      recorded.status = 200;
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(this.#dryAnswer(url)));
      return;
    }
    const target = { host: '127.0.0.1', port: this.#platformPort, method, path: url, headers, agent: false };
    const passed = httpRequest(target, (answer) => {
      recorded.status = answer.statusCode ?? 502;
      response.writeHead(recorded.status, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    request.pipe(passed);
  }

  /** A key for S3 leads to further requests, and labels are printed; nothing else is worth a true answer. */
  #dryAnswer(url: string): object {
    const path = url.split('?', 1)[0] ?? '';
    if (/^\/api\/containers\/[^/]+$/.test(path)) return { labels: {} };
    if (!path.endsWith('/object-store/keys')) return {};
    const key = { accessKeyId: 'AKIAX', secretAccessKey: 'x', s3_endpoint: this.url, key: { expires_at: null } };
    return { success: true, message: 'Created', data: key };
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const recorded = this.#note(request, 'UPGRADE');
    const passed: Socket = connect(this.#platformPort, '127.0.0.1');
    for (const each of [socket, passed]) {
      this.#sockets.add(each);
      each.once('close', () => this.#sockets.delete(each)).on('error', () => each.destroy());
    }
    passed.once('data', (bytes: Buffer) => (recorded.status = Number(/^HTTP.1.1 (\d+)/.exec(bytes.toString())?.[1])));
    const lines = [`GET ${request.url ?? '/'} HTTP/1.1`];
    for (let at = 0; at < request.rawHeaders.length; at += 2) {
      lines.push(`${request.rawHeaders[at] ?? ''}: ${request.rawHeaders[at + 1] ?? ''}`);
    }
    passed.write(`${lines.join('\r\n')}\r\n\r\n`);
    passed.write(head);
    socket.pipe(passed).pipe(socket);
    socket.once('close', () => passed.destroy());
  }
}
