import { inClusterAccess, kubeconfigAccess, type ClusterAccess } from '@svc/kube';
import type { Logger } from '@svc/telemetry';
import type { AgentConfig } from './config/schema.ts';

/** What a kubelet tells a pod about the API server. */
export interface PodEnvironment {
  host: string | undefined;
  port: string | undefined;
}

/**
 * The kubeconfig when one is configured, else the pod's service account. Without either the agent still starts and
 * says what is missing by its health: every call to the cluster fails with that reason and no packet is sent.
 */
export async function openClusterAccess(
  { kubeconfig, context }: AgentConfig['kubernetes'],
  pod: PodEnvironment,
  nowMs: () => number,
  log: Logger,
): Promise<ClusterAccess> {
  try {
    if (kubeconfig !== undefined) return await kubeconfigAccess(kubeconfig, context, nowMs);
    return await inClusterAccess({ ...pod, nowMs });
  } catch (error) {
    log.error({ err: error }, 'no access to Kubernetes; set kubernetes.kubeconfig, or run as a pod');
    return {
      server: new URL('https://kubernetes.invalid'),
      insecureSkipVerify: false,
      namespace: 'default',
      token: {
        current: () => Promise.reject(error instanceof Error ? error : new Error(String(error))),
        invalidate: () => undefined,
      },
    };
  }
}
