import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectStream } from '@svc/testing';

/** A proxy for a registry on loopback, with configurable faults. */
export interface FaultyProxy {
  readonly host: string;
  readonly requests: {
    readonly path: string;
    readonly range: string | undefined;
    readonly authorization: string | undefined;
  }[];
  /** Breaks the connection of each successive blob request after the given number of bytes. */
  breakBlobsAfter(bytes: readonly number[]): void;
  ignoreRanges(): void;
  corruptBlobs(): void;
  appendToBlobs(more: Buffer): void;
  corruptManifests(): void;
  answerManifests(status: number): void;
  redirectBlobs(to: (path: string) => string): void;
  /** Rejects requests without credentials. */
  wantBasic(): void;
  /** Holds layers until `release`. */
  hold(): void;
  release(): void;
  behave(): void;
  close(): Promise<void>;
}

interface Faults {
  breaks: number[];
  ignoreRanges: boolean;
  corruptBlobs: boolean;
  append: Buffer;
  corruptManifests: boolean;
  manifestStatus: number | null;
  redirect: ((path: string) => string) | null;
  held: PromiseWithResolvers<void> | null;
  wantBasic: boolean;
}

const MAX_BODY_BYTES = 64 * 1024 * 1024;

function noFaults(): Faults {
  return {
    breaks: [],
    ignoreRanges: false,
    corruptBlobs: false,
    append: Buffer.alloc(0),
    corruptManifests: false,
    manifestStatus: null,
    redirect: null,
    held: null,
    wantBasic: false,
  };
}

export async function faultyProxy(upstream: string): Promise<FaultyProxy> {
  let faults = noFaults();
  const requests: FaultyProxy['requests'] = [];
  const server = createServer((request, response) => {
    requests.push({
      path: request.url ?? '',
      range: request.headers.range,
      authorization: request.headers.authorization,
    });
    serve(request, response, upstream, faults).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP listener's address is never a string
  return {
    host: `127.0.0.1:${port}`,
    requests,
    breakBlobsAfter: (bytes) => void (faults.breaks = [...bytes]),
    ignoreRanges: () => void (faults.ignoreRanges = true),
    corruptBlobs: () => void (faults.corruptBlobs = true),
    appendToBlobs: (more) => void (faults.append = more),
    corruptManifests: () => void (faults.corruptManifests = true),
    answerManifests: (status) => void (faults.manifestStatus = status),
    redirectBlobs: (to) => void (faults.redirect = to),
    wantBasic: () => void (faults.wantBasic = true),
    hold: () => void (faults.held = Promise.withResolvers()),
    release: () => faults.held?.resolve(),
    behave: () => void (faults = noFaults()),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  upstream: string,
  faults: Faults,
): Promise<void> {
  const path = request.url ?? '';
  const isManifest = path.includes('/manifests/');
  if (faults.wantBasic && request.headers.authorization === undefined) {
    return void response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end();
  }
  // An image's configuration is a blob too, a small one that these faults do not cover.
  const { status, headers, body } = await ask(request, upstream, faults.ignoreRanges);
  const isLayer = path.includes('/blobs/') && !(headers['content-type'] ?? '').includes('json') && body.length > 2000;
  if (isLayer) await faults.held?.promise;
  if (isManifest && faults.manifestStatus !== null) return void response.writeHead(faults.manifestStatus).end();
  if (isLayer && faults.redirect !== null) {
    return void response.writeHead(307, { location: faults.redirect(path) }).end();
  }
  let sent = body;
  if ((isManifest && faults.corruptManifests) || (isLayer && faults.corruptBlobs)) {
    sent = Buffer.from(body);
    sent[sent.length - 1] = (sent.at(-1) ?? 0) ^ 1;
    if (isManifest) sent = Buffer.concat([body, Buffer.from('\n')]);
  }
  if (isLayer) sent = Buffer.concat([sent, faults.append]);
  response.writeHead(status, { ...headers, 'content-length': sent.length });
  const breakAfter = isLayer ? faults.breaks.shift() : undefined;
  if (breakAfter === undefined) return void response.end(sent);
  response.write(sent.subarray(0, breakAfter), () => response.destroy());
}

function ask(request: IncomingMessage, upstream: string, withoutRange: boolean) {
  const headers: Record<string, string | string[] | undefined> = { ...request.headers, host: upstream };
  if (withoutRange) delete headers['range'];
  return new Promise<{ status: number; headers: IncomingMessage['headers']; body: Buffer }>((resolve, reject) => {
    const asked = forward(`http://${upstream}${request.url ?? ''}`, { headers }, (answer) => {
      collectStream(answer, MAX_BODY_BYTES).then(
        (body) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }),
        reject,
      );
    });
    asked.once('error', reject);
    asked.end();
  });
}
