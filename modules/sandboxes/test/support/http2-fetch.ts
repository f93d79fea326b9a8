import { once } from 'node:events';
import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2';

/** What the tests use of `fetch`. */
export type Fetch = (path: string, init: FetchInit) => Promise<Response>;

export interface FetchInit {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Posts over one HTTP/2 connection, whose certificate is not checked. */
export class Http2Client {
  readonly session: ClientHttp2Session;

  constructor(url: string) {
    this.session = connect(url, { rejectUnauthorized: false });
    this.session.on('error', () => undefined); // each stream reports it
  }

  readonly post: Fetch = async (path, { headers, body }) => {
    const stream = this.session.request({ ':method': 'POST', ':path': path, ...headers });
    stream.end(body);
    const [{ ':status': status, ...received }] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    const pairs = Object.entries(received).map(([name, value]): [string, string] => [name, String(value)]);
    const content = ReadableStream.from<Uint8Array>(stream);
    return new Response(content, { status: Number(status), headers: pairs });
  };

  close(): void {
    this.session.destroy();
  }
}
