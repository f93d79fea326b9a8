import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BucketRecord } from '../domain/ports/records.ts';
import type { TrafficCounters } from '../domain/usage/traffic-counters.ts';

/**
 * Counts an exchange about a bucket once it ends. A complete body counts with its declared length; an incomplete or
 * undeclared one with the bytes that passed on the connection. `bodyBytes`: size of the response body, if only the
 * caller knows it.
 */
export function countTraffic(
  traffic: TrafficCounters,
  bucket: Pick<BucketRecord, 'id' | 'workspaceUuid'>,
  incoming: IncomingMessage,
  response: ServerResponse,
  bodyBytes?: number,
): void {
  const { socket } = incoming;
  const { bytesRead, bytesWritten } = socket;
  response.once('close', () => {
    const received = counted(socket.bytesRead - bytesRead);
    const announced = Number(incoming.headers['content-length'] ?? Number.NaN);
    const bytesIn =
      incoming.complete && announced >= 0 ? announced : Math.min(received, announced >= 0 ? announced : received);
    const sent = counted(socket.bytesWritten - bytesWritten);
    traffic.add(
      bucket,
      bytesIn,
      response.writableFinished ? (bodyBytes ?? countBytes(incoming, response, sent)) : sent,
    );
  });
}

/** Without a declared length, this includes bytes sent besides the body. */
function countBytes(incoming: IncomingMessage, response: ServerResponse, sent: number): number {
  const { statusCode } = response;
  if (incoming.method === 'HEAD' || statusCode === 204 || statusCode === 304) return 0;
  const announced = response.getHeader('content-length');
  return announced === undefined ? sent : counted(Number(announced));
}

/** 0 if there is no socket to measure. */
function counted(bytes: number): number {
  return bytes > 0 ? bytes : 0;
}
