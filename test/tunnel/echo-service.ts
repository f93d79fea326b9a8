import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { WebSocketServer } from 'ws';

/** A web service that echoes requests, with every feature of HTTP/1.1. */
export interface EchoService extends AsyncDisposable {
  readonly address: string;
  /** Received request heads. */
  readonly seen: IncomingMessage[];
  /** Number of connections so far. */
  connectionCount(): number;
}

export async function startEcho(): Promise<EchoService> {
  const seen: IncomingMessage[] = [];
  let connections = 0;
  const open = new Set<Socket>();
  const server = createServer((request, response) => {
    seen.push(request);
    answer(request, response).catch(() => response.destroy());
  });
  const webSockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    seen.push(request);
    if (request.headers.upgrade === 'echo/1') {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo/1\r\n\r\n');
      if (head.length > 0) socket.write(head);
      socket.pipe(socket);
      return;
    }
    if (request.url?.startsWith('/refuse') === true) {
      socket.end('HTTP/1.1 409 Conflict\r\nContent-Length: 5\r\nConnection: close\r\n\r\nnever');
      return;
    }
    webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      webSocket.on('message', (data, isBinary) => webSocket.send(data, { binary: isBinary }));
    });
  });
  server.on('connection', (socket) => {
    connections += 1;
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`, // a TCP listener
    seen,
    connectionCount: () => connections,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://echo');
  switch (url.pathname) {
    case '/stream': {
      // Each line only after the previous one was answered: it hangs if anything in between buffers.
      response.writeHead(200, { 'content-type': 'text/plain' });
      for await (const chunk of request) response.write(chunk);
      response.end();
      return;
    }
    case '/trailers': {
      const body = await text(request);
      response.writeHead(200, { trailer: 'x-sum' });
      response.write(body);
      response.addTrailers({ 'x-sum': String(body.length), 'x-got': request.trailers['x-sent'] ?? '' });
      response.end();
      return;
    }
    case '/moved':
      response.writeHead(302, { location: '/elsewhere?x=1' }).end();
      return;
    case '/cookies':
      response.setHeader('set-cookie', ['a=1; Domain=localhost; Path=/', 'svc_session=stolen', 'b=2']);
      response.end();
      return;
    case '/silent':
      return;
    case '/cut':
      response.writeHead(200, { 'content-length': '1000' });
      response.write('half');
      setImmediate(() => request.socket.destroy());
      return;
    default: {
      const body = await text(request);
      const { method, url: path, headers } = request;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ method, path, headers, body }));
    }
  }
}
