import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BucketRecord } from '../ports/records.ts';
import type { TrafficCounters } from './traffic-counters.ts';

/**
 * Counts one exchange about a bucket when it is over. A body that came or went whole counts by its announced length;
 * one that was cut, or had none, by what passed on the connection meanwhile. `bodyBytes`: of the answer, where only the
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
    traffic.add(bucket, bytesIn, response.writableFinished ? (bodyBytes ?? lengthOf(incoming, response, sent)) : sent);
  });
}

/** What was sent beside a body is not told from it where the length was not announced. */
function lengthOf(incoming: IncomingMessage, response: ServerResponse, sent: number): number {
  const { statusCode } = response;
  if (incoming.method === 'HEAD' || statusCode === 204 || statusCode === 304) return 0;
  const announced = response.getHeader('content-length');
  return announced === undefined ? sent : counted(Number(announced));
}

/** No socket, no figure. */
function counted(bytes: number): number {
  return bytes > 0 ? bytes : 0;
}
