import type { UpgradeRequest } from '@svc/http';
import type { WebSocket, WebSocketServer } from 'ws';
import { clusterErrors } from '../errors.ts';

/** Versions that `ws` supports: RFC 6455, and the preceding draft with the same frames. */
const VERSIONS: ReadonlySet<string> = new Set(['13', '8']);

/**
 * Checks everything that `ws` checks (RFC 6455, 4.2.1), so that a handshake it would reject leaves no epoch and no
 * audit entry.
 */
export function requireWebSocket({ request }: UpgradeRequest): void {
  const { upgrade, 'sec-websocket-key': key = '', 'sec-websocket-version': version = '' } = request.headers;
  if (request.method !== 'GET' || upgrade?.toLowerCase() !== 'websocket') {
    throw clusterErrors.INVALID_REQUEST({ details: { field: 'Upgrade', reason: 'a WebSocket handshake is required' } });
  }
  if (!/^[+/0-9A-Za-z]{22}==$/.test(key)) {
    const details = { field: 'Sec-WebSocket-Key', reason: 'Sec-WebSocket-Key must be 16 bytes in base64' };
    throw clusterErrors.INVALID_REQUEST({ details });
  }
  if (!VERSIONS.has(version)) {
    const details = { field: 'Sec-WebSocket-Version', reason: 'Sec-WebSocket-Version must be 13' };
    throw clusterErrors.INVALID_REQUEST({ details, headers: { 'sec-websocket-version': '13' } });
  }
}

/**
 * `ws` calls back synchronously. If the socket is gone or the handshake is invalid, it responds itself and never calls
 * back.
 */
export function acceptWebSocket(
  server: WebSocketServer,
  { request, socket, head }: UpgradeRequest,
): WebSocket | undefined {
  let accepted: WebSocket | undefined;
  server.handleUpgrade(request, socket, head, (webSocket) => {
    accepted = webSocket;
  });
  return accepted;
}
