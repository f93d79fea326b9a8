import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { duplexTransport } from './duplex-transport.ts';
import { messageTransport } from './message-transport.ts';
import type { MuxTransport } from './transport.ts';
import { MUX_MESSAGE_BYTES, MUX_SUBPROTOCOL, MUX_UPGRADE } from './upgrade-names.ts';

/** The arguments of a server's `upgrade` event. */
export interface MuxUpgrade {
  request: IncomingMessage;
  socket: Duplex;
  head: Buffer;
}

/** Accepts sessions on an HTTP server. */
export interface MuxAcceptor {
  /** Whether the request asks for a session. Check this before authorizing it. */
  wants(request: IncomingMessage): boolean;
  /**
   * Responds with 101 and returns the transport. Null if the peer is gone or its handshake was invalid and refused.
   */
  accept(upgrade: MuxUpgrade): MuxTransport | null;
}

/** The accepting side of `dialMux`: `Upgrade: svc-mux/1` on the raw socket, or a WebSocket with `svc-mux.1`. */
export function createMuxAcceptor(): MuxAcceptor {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MUX_MESSAGE_BYTES,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(MUX_SUBPROTOCOL) ? MUX_SUBPROTOCOL : false),
  });
  return {
    wants: (request) => isRaw(request) || isWebSocket(request),
    accept: ({ request, socket, head }) => {
      if (!isRaw(request)) {
        const webSocket = shakeHands(server, { request, socket, head });
        return webSocket === null ? null : messageTransport(webSocket);
      }
      if (socket.destroyed || !socket.writable) return null;
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${MUX_UPGRADE}\r\n\r\n`);
      return duplexTransport(socket, head);
    },
  };
}

function isRaw({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === MUX_UPGRADE;
}

function isWebSocket({ method, headers }: IncomingMessage): boolean {
  const offered = String(headers['sec-websocket-protocol'] ?? '').split(',');
  const isOffered = offered.some((name) => name.trim() === MUX_SUBPROTOCOL);
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && isOffered;
}

/**
 * `ws` calls back synchronously. If the socket is gone or the handshake is invalid, it responds itself and never calls
 * back.
 */
function shakeHands(server: WebSocketServer, { request, socket, head }: MuxUpgrade): WebSocket | null {
  let accepted: WebSocket | null = null;
  server.handleUpgrade(request, socket, head, (webSocket) => {
    accepted = webSocket;
  });
  return accepted;
}
