import { isAppError, type AppError } from '@svc/errors';
import { MalformedAnswer, RelayTimeout } from '@svc/http';
import { MUX_CODES, MuxError } from '@svc/mux';
import { TUNNEL_STREAM_CODES } from '@svc/protocol';
import type { Clock } from '@svc/runtime';
import type { TunnelStore } from '../../domain/tunnel.ts';
import { clusterErrors } from '../../errors.ts';

/** Maps a failure behind the tunnel to the error that its caller receives. */
export function toTunnelError(error: unknown, target: { cluster: string; service: string }): AppError {
  if (isAppError(error)) return error;
  if (error instanceof RelayTimeout)
    return clusterErrors.TUNNEL_TIMEOUT({ details: { ...target, reason: error.message } });
  if (error instanceof MuxError) return fromMuxError(error, target);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const isNotHttp = error instanceof MalformedAnswer || code.startsWith('HPE_');
  const reason = isNotHttp ? 'the service does not speak HTTP' : 'the service closed the connection';
  return clusterErrors.TUNNEL_BACKEND_UNREACHABLE({ details: { ...target, reason }, cause: error });
}

function fromMuxError(error: MuxError, target: { cluster: string; service: string }): AppError {
  const details = { ...target, reason: error.reason };
  switch (error.resetCode) {
    case TUNNEL_STREAM_CODES.unknownService:
      return clusterErrors.FORWARD_NOT_FOUND({ details });
    case TUNNEL_STREAM_CODES.timedOut:
      return clusterErrors.TUNNEL_TIMEOUT({ details });
    case MUX_CODES.REFUSED:
      return clusterErrors.TUNNEL_BUSY({ details, headers: { 'retry-after': '1' } });
    case MUX_CODES.CONNECTION_LOST:
    case MUX_CODES.GOING_AWAY:
    case MUX_CODES.TIMEOUT: {
      const reason = 'its tunnel ended';
      return clusterErrors.AGENT_OFFLINE({ details: { ...target, reason }, headers: { 'retry-after': '1' } });
    }
    default:
      return clusterErrors.TUNNEL_BACKEND_UNREACHABLE({ details });
  }
}

/** Names the replica that holds the tunnel if it is another one. */
export async function offlineError(
  { store, clock }: { store: TunnelStore; clock: Clock },
  clusterId: string,
  clusterName: string,
): Promise<AppError> {
  const holder = await store.holder(clusterId, clock.now().toISOString());
  const reason = holder === null ? 'its agent has no tunnel' : `its tunnel is at replica ${holder} of the platform`;
  return clusterErrors.AGENT_OFFLINE({ details: { cluster: clusterName, reason }, headers: { 'retry-after': '1' } });
}
