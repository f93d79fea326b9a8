import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { PemPair } from '@svc/certificates';

/** What the upstream got in a request, and the address and port of its connection. */
export interface SeenRequest {
  readonly host: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly connection: string;
  readonly secure: boolean;
}

export interface SecretUpstream {
  readonly seen: readonly SeenRequest[];
  stop(): void;
}

/**
 * An HTTPS and HTTP server in a network namespace, on the usual ports of these addresses, which passes DNS queries on. `/redirect?to=` redirects,
 * `/stream` never ends, everything else is answered with `fine`.
 */
export async function startSecretUpstream(
  namespace: string,
  { addresses, resolver }: { readonly addresses: readonly string[]; readonly resolver: string },
  certificate: PemPair,
): Promise<SecretUpstream> {
  const server = spawn('ip', ['netns', 'exec', namespace, process.execPath, '-e', SERVER], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const seen: SeenRequest[] = [];
  server.stdin.end(JSON.stringify({ addresses, resolver, ...certificate }));
  await once(server.stdout, 'data'); // it listens
  let pending = '';
  server.stdout.on('data', (chunk: Buffer) => {
    const lines = (pending + chunk.toString()).split('\n');
    pending = lines.pop() ?? '';
    for (const line of lines) seen.push(JSON.parse(line) as SeenRequest); // written by SERVER
  });
  return { seen, stop: () => void server.kill('SIGKILL') };
}

const SERVER = `
  const fs = require('node:fs');
  const { addresses, resolver, cert, key } = JSON.parse(fs.readFileSync(0, 'utf8'));
  const handle = (secure) => (request, response) => {
    const { method, url, headers, socket } = request;
    const seen = { host: headers.host, method, url, headers, secure, connection: socket.remoteAddress + ':' + socket.remotePort };
    process.stdout.write(JSON.stringify(seen) + '\\n');
    const { pathname, searchParams } = new URL(url, 'http://h');
    if (pathname === '/redirect') response.writeHead(302, { location: searchParams.get('to') }).end();
    else if (pathname === '/stream') { response.write('begun\\n'); const timer = setInterval(() => response.write('more\\n'), 100); response.on('close', () => clearInterval(timer)); }
    else response.end('fine');
  };
  let waiting = addresses.length * 3;
  const up = () => { waiting -= 1; if (waiting === 0) process.stdout.write('up\\n'); };
  const dgram = require('node:dgram');
  for (const address of addresses) {
    const names = dgram.createSocket('udp4').bind(53, address, up);
    names.on('message', (question, from) => {
      const asking = dgram.createSocket('udp4').on('message', (answer) => { names.send(answer, from.port, from.address); asking.close(); });
      asking.send(question, 53, resolver);
    });
    require('node:https').createServer({ cert, key, keepAliveTimeout: 60000 }, handle(true)).listen(443, address, up);
    require('node:http').createServer(handle(false)).listen(80, address, up);
  }
`;
