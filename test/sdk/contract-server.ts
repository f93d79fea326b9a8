import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { WebSocketServer, type WebSocket } from 'ws';

export interface ContractServer extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  /** Received requests, such as `GET /api/containers`. */
  readonly seen: string[];
}

interface Played {
  id: string;
  name: string;
  image: string;
  status: string;
  created_at: string;
  /** Number of polls until it is running. */
  looks: number;
}

/**
 * Implements only the contract: no exec route, no subprotocol, no long poll, lists that are null, and a raw terminal
 * with a real shell of this machine. Its files are this machine's.
 */
export async function startContractServer(): Promise<ContractServer> {
  const token = 'contract-token';
  const seen: string[] = [];
  const sandboxes = new Map<string, Played>();
  const server = createServer((request, response) => {
    answer(request, response, { token, seen, sandboxes }).catch((error: unknown) => {
      const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      reply(response, isMissing ? 404 : 500, { error: String(error) });
    });
  });
  const sockets = new WebSocketServer({ noServer: true });
  const open = new Set<WebSocket>();
  server.on('upgrade', (request, socket, head) => {
    const id = /^\/ws\/terminal\/([^?]+)\?cols=\d+&rows=\d+$/.exec(request.url ?? '')?.[1] ?? '';
    if (request.headers.authorization !== `Bearer ${token}` || sandboxes.get(id)?.status !== 'running') {
      socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      open.add(webSocket);
      webSocket.once('close', () => open.delete(webSocket));
      serveShell(webSocket);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const close = async (): Promise<void> => {
    for (const webSocket of open) webSocket.terminate();
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${port}`, token, seen, [Symbol.asyncDispose]: close };
}

/** `script` provides the shell's terminal. */
function serveShell(socket: WebSocket): void {
  const shell = spawn('script', ['-qfec', 'sh -i', '/dev/null'], {
    env: { PATH: process.env['PATH'], TERM: 'xterm', PS1: '$ ' },
  });
  const decoder = new TextDecoder();
  shell.stdout.on('data', (bytes: Buffer) => socket.send(decoder.decode(bytes, { stream: true })));
  shell.stdin.on('error', () => undefined); // the shell has ended
  shell.once('close', () => socket.close(1000));
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary || !data.toString().includes('"resize"')) shell.stdin.write(data);
  });
  // `script` ignores other signals; processes on its terminal then get SIGHUP.
  socket.once('close', () => shell.kill('SIGKILL'));
}

interface Context {
  token: string;
  seen: string[];
  sandboxes: Map<string, Played>;
}

async function answer(request: IncomingMessage, response: ServerResponse, context: Context): Promise<void> {
  const { seen, sandboxes, token } = context;
  const url = new URL(request.url ?? '/', 'http://server');
  seen.push(`${request.method} ${url.pathname}`);
  if (request.headers.authorization !== `Bearer ${token}`) return reply(response, 401, { error: 'unauthorized' });
  const [, id = '', rest = ''] = /^\/api\/containers(?:\/([^/]+))?(.*)$/.exec(url.pathname) ?? [];
  const sandbox = sandboxes.get(id);
  switch (`${request.method} ${id === '' ? url.pathname : `:id${rest}`}`) {
    case 'GET /api/containers': {
      const all = [...sandboxes.values()];
      return reply(response, 200, { containers: all.length === 0 ? null : all, count: all.length, limit: 5 });
    }
    case 'POST /api/containers': {
      const { image, name = 'unnamed' } = (await json(request)) as { image: string; name?: string };
      const made = {
        id: `c${sandboxes.size}`,
        name,
        image,
        status: 'creating',
        created_at: new Date().toISOString(),
        looks: 0,
      };
      sandboxes.set(made.id, made);
      return reply(response, 200, made);
    }
  }
  if (sandbox === undefined) return reply(response, 404, { error: 'not found' });
  await answerOne(`${request.method} ${rest}`, url, request, response, sandbox, sandboxes);
}

async function answerOne(
  route: string,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
  sandbox: Played,
  sandboxes: Map<string, Played>,
): Promise<void> {
  const path = url.searchParams.get('path') ?? '/';
  switch (route) {
    case 'GET ':
      sandbox.looks += 1;
      if (sandbox.status === 'creating' && sandbox.looks > 1) sandbox.status = 'running';
      return reply(response, 200, sandbox);
    case 'POST /start':
    case 'POST /stop':
      sandbox.status = route === 'POST /start' ? 'running' : 'stopped';
      return reply(response, 200, sandbox);
    case 'DELETE ':
      sandboxes.delete(sandbox.id);
      return reply(response, 200, { message: 'deleted', id: sandbox.id });
    case 'GET /files/list': {
      const entries = await Promise.all((await readdir(path)).map(async (name) => entryOf(`${path}/${name}`, name)));
      return reply(response, 200, entries.length === 0 ? null : entries);
    }
    case 'GET /files':
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      response.end(await readFile(path));
      return;
    case 'POST /files': {
      const body = (await json(request)) as { path: string; content: string };
      await writeFile(body.path, Buffer.from(body.content, 'base64'));
      return reply(response, 200, { message: 'written', path: body.path });
    }
    case 'POST /files/mkdir':
      await mkdir(((await json(request)) as { path: string }).path, { recursive: true });
      return reply(response, 200, { message: 'made' });
    case 'DELETE /files':
      await rm(path, { recursive: true });
      return reply(response, 200, { message: 'deleted' });
    default:
      return reply(response, 404, { error: '404 page not found' });
  }
}

async function entryOf(path: string, name: string): Promise<Record<string, unknown>> {
  const found = await stat(path);
  return {
    name,
    path,
    size: found.size,
    mode: '-rw-r--r--',
    mod_time: found.mtime.toISOString(),
    is_dir: found.isDirectory(),
  };
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
