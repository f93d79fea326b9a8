import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export type Verdict = 'pass' | 'hold' | 'damage';

/** A proxy in front of the S3 plane. Requests arrive as signed, since only the connection differs. */
export class S3Gate implements AsyncDisposable {
  readonly #server: Server;
  readonly #target: URL;
  #judge: (line: string, index: number) => Verdict = () => 'pass';
  #seen: string[] = [];
  #held = 0;

  private constructor(target: URL) {
    this.#target = target;
    this.#server = createServer((incoming, response) => this.#handle(incoming, response));
  }

  static async open(target: string): Promise<S3Gate> {
    const gate = new S3Gate(new URL(target));
    gate.#server.listen(0, '127.0.0.1');
    await once(gate.#server, 'listening');
    return gate;
  }

  get endpoint(): string {
    const { port } = this.#server.address() as AddressInfo; // a TCP server that listens has one
    return `http://127.0.0.1:${port}`;
  }

  /** Request lines since the last `reset`, such as `PUT /bucket/key?partNumber=1&uploadId=…`, with their range. */
  get seen(): readonly string[] {
    return this.#seen;
  }

  /** Requests held forever. */
  get held(): number {
    return this.#held;
  }

  /** Judges by the request line and the number of earlier matches. */
  reset(matching: RegExp = /$^/, judge: (index: number) => Verdict = () => 'pass'): void {
    this.#seen = [];
    this.#held = 0;
    let index = 0;
    this.#judge = (line) => {
      if (!matching.test(line)) return 'pass';
      index += 1;
      return judge(index - 1);
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #handle(incoming: IncomingMessage, response: ServerResponse): void {
    const range = incoming.headers.range === undefined ? '' : ` ${incoming.headers.range}`;
    const line = `${incoming.method} ${incoming.url}${range}`;
    this.#seen.push(line);
    const verdict = this.#judge(line, this.#seen.length);
    if (verdict === 'hold') {
      this.#held += 1;
      incoming.resume();
      return;
    }
    const { hostname, port } = this.#target;
    const { method, url: path, headers } = incoming;
    const onward = request({ hostname, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('data', (chunk: Buffer) => {
        if (verdict === 'damage') chunk.writeUInt8((chunk.at(-1) ?? 0) ^ 1, chunk.length - 1);
        response.write(chunk);
      });
      answer.once('end', () => response.end());
      answer.once('error', () => response.destroy());
    });
    onward.once('error', () => response.destroy());
    incoming.pipe(onward);
  }
}
