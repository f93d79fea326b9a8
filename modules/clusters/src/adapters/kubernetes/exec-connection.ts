import { isAppError } from '@svc/errors';
import { isStatusError, openExec, type ExecRoute } from '@svc/kube/exec';
import { KUBERNETES_SERVICE } from '@svc/protocol';
import type { WebSocket } from 'ws';
import { clusterErrors } from '../../errors.ts';
import type { AgentTunnel } from '../tunnel/agent-tunnel.ts';
import { toTunnelError } from '../tunnel/tunnel-errors.ts';
import { tunnelRequestOf, type KubernetesCaller } from './kubernetes-api.ts';
import { toKubernetesError } from './kubernetes-errors.ts';
import type { ShellRequest } from '../../domain/kubernetes/shell-request.ts';

export type ShellTarget = Pick<ShellRequest, 'namespace' | 'pod' | 'command' | 'tty'> & { container: string };

/** Opens the WebSocket of `pods/exec` through the tunnel, paused. */
export async function openShell(
  tunnel: AgentTunnel,
  caller: KubernetesCaller,
  { namespace, pod, container, command, tty }: ShellTarget,
  signal: AbortSignal,
): Promise<WebSocket> {
  const cluster = caller.cluster.name;
  const target = { cluster, service: KUBERNETES_SERVICE };
  const wanted = { namespace, pod, container, command, tty, stdin: true };
  try {
    return await openExec(routeThrough(tunnel, caller), wanted, { signal });
  } catch (error) {
    if (isStatusError(error)) throw toKubernetesError(error.status, { message: error.message }, cluster);
    if (isAppError(error) && error.code === 'EXEC_TIMEOUT') {
      throw clusterErrors.TUNNEL_TIMEOUT({ details: { ...target, reason: 'the shell did not start' } });
    }
    throw toTunnelError(error, target);
  }
}

function routeThrough(tunnel: AgentTunnel, caller: KubernetesCaller): ExecRoute {
  return {
    server: new URL(`http://${KUBERNETES_SERVICE}`),
    connection: () => {
      const stream = tunnel.open(tunnelRequestOf(caller));
      return Promise.resolve({ createConnection: () => stream });
    },
  };
}
