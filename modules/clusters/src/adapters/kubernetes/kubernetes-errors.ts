import type { AppError } from '@svc/errors';
import { textAt } from '@svc/kube/values';
import { clusterErrors } from '../../errors.ts';

/**
 * Maps an error of the API server, or of the agent in front of it, to a catalogue error. The reason comes from its
 * `Status`.
 */
export function toKubernetesError(status: number, body: unknown, cluster: string): AppError {
  const reason = textAt(body, 'message') ?? `the API server answered ${status}`;
  const details = { cluster, reason };
  switch (status) {
    case 400:
    case 422:
      return clusterErrors.INVALID_REQUEST({ details });
    case 403:
      return clusterErrors.FORBIDDEN({ details });
    case 404:
      return clusterErrors.KUBERNETES_NOT_FOUND({ details });
    case 410:
      return clusterErrors.CURSOR_EXPIRED({ details: { ...details, field: 'cursor' } });
    case 429:
    case 503:
      return clusterErrors.KUBERNETES_UNAVAILABLE({ details, headers: { 'retry-after': '1' } });
    default:
      return clusterErrors.KUBERNETES_ERROR({ details });
  }
}
