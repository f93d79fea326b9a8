import {
  request as httpRequest,
  STATUS_CODES,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { failUnanswered } from '@svc/runtime';
import { sandboxErrors } from '../../errors.ts';
import type { PortSocket } from '../../domain/preview/port-socket.ts';

interface Forwarding {
  readonly request: IncomingMessage;
  readonly port: PortSocket;
  /** Path and query sent to the program. */
  readonly target: string;
  readonly headers: OutgoingHttpHeaders;
  /** Maps the program's response headers to those sent to the client. */
  readonly answer: (given: IncomingHttpHeaders) => OutgoingHttpHeaders;
}

/**
 * Forwards one request over one connection into the sandbox. Bodies stream in both directions with backpressure.
 * Resolves when the response has ended in any way; rejects with PORT_UNREACHABLE if none started.
 */
export function forwardRequest(forwarding: Forwarding & { readonly response: ServerResponse }): Promise<void> {
  const { request, response, port, target, headers, answer } = forwarding;
  if (response.destroyed) return Promise.resolve(); // the client left, and `close` is not emitted again
  return new Promise((resolve, reject) => {
    const upstream = httpRequest({
      createConnection: () => port,
      method: request.method,
      path: target,
      headers,
      setHost: false,
    });
    failUnanswered(upstream);
    response.once('close', () => {
      upstream.destroy();
      port.destroy();
      resolve();
    });
    upstream.once('response', (message) => {
      message.once('error', () => response.destroy());
      try {
        response.writeHead(message.statusCode ?? 502, answer(message.headers));
        response.flushHeaders(); // start event streams and long polls at once
      } catch (cause) {
        reject(sandboxErrors.PORT_UNREACHABLE({ details: { reason: 'its response is not valid HTTP' }, cause }));
        return;
      }
      message.pipe(response);
      message.once('close', () => {
        if (!message.complete) response.destroy(); // do not pass off a partial response as complete
      });
    });
    upstream.once('error', (cause) => {
      if (response.headersSent) response.destroy();
      else reject(noAnswer(cause));
    });
    request.pipe(upstream);
  });
}

/**
 * Destroys the socket of an upgrade when its client leaves. Before the answer, the socket is unread and would not close
 * by itself. Returns the function to call before the socket is read.
 */
export function noticeLeaving(socket: Duplex): () => void {
  // Without a read, a buffer that is empty does not report its end. What the client sends early stays in the buffer.
  const look = (): void => {
    if (socket.readableLength === 0) socket.read();
  };
  const left = (): void => void socket.destroy();
  socket.on('readable', look).once('end', left);
  return () => void socket.off('readable', look).off('end', left);
}

/** Forwards a protocol upgrade: after the response, bytes pass unchanged in both directions. */
export function forwardUpgrade(
  forwarding: Forwarding & {
    readonly socket: Duplex;
    readonly head: Buffer;
    /** Called before the socket is read or ended. */
    readonly answered: () => void;
  },
): Promise<void> {
  const { request, socket, head, port, target, headers, answer, answered } = forwarding;
  if (socket.destroyed) {
    port.destroy();
    return Promise.resolve();
  }
  return new Promise((resolve, reject) => {
    const upgrade = { connection: 'Upgrade', upgrade: request.headers.upgrade ?? '' };
    const upstream = httpRequest({
      createConnection: () => port,
      method: request.method,
      path: target,
      headers: { ...headers, ...upgrade },
      setHost: false,
    });
    socket.once('close', () => port.destroy());
    upstream.once('upgrade', (message, _port, early) => {
      answered();
      const switched = { ...answer(message.headers), connection: 'Upgrade', upgrade: message.headers.upgrade };
      socket.write(renderHead(101, switched));
      if (early.length > 0) socket.write(early);
      if (head.length > 0) port.write(head);
      join(socket, port);
      resolve();
    });
    upstream.once('response', (message) => {
      answered();
      // The program refuses the upgrade: pass on its response and close.
      socket.write(renderHead(message.statusCode ?? 502, { ...answer(message.headers), connection: 'close' }));
      message.once('error', () => socket.destroy());
      message.pipe(socket);
      resolve();
    });
    upstream.once('error', (cause) => reject(noAnswer(cause)));
    upstream.end();
  });
}

function join(socket: Duplex, port: PortSocket): void {
  port.on('error', () => socket.destroy());
  socket.pipe(port);
  port.pipe(socket);
  // The program has closed; deliver its remaining output.
  port.once('end', () => socket.end(() => socket.destroy()));
  port.once('close', () => {
    if (!port.readableEnded) socket.destroy();
  });
}

function renderHead(status: number, headers: OutgoingHttpHeaders): string {
  const lines = Object.entries(headers).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return (Array.isArray(value) ? value : [String(value)]).map((each) => `${name}: ${each}\r\n`);
  });
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}\r\n${lines.join('')}\r\n`;
}

function noAnswer(cause: Error): Error {
  const code = 'code' in cause ? String(cause.code) : '';
  const reason = code.startsWith('HPE_') ? 'its response is not valid HTTP' : 'the connection ended before an answer';
  return sandboxErrors.PORT_UNREACHABLE({ details: { reason }, cause });
}
