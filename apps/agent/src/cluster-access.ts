import { inClusterAccess, kubeconfigAccess, type ClusterAccess } from '@svc/kube';
import type { Logger } from '@svc/telemetry';
import type { AgentConfig } from './config/schema.ts';

/** The API server address that a kubelet passes to pods. */
export interface PodEnvironment {
  host: string | undefined;
  port: string | undefined;
}

/**
 * Uses the configured kubeconfig, else the pod's service account. Without either, the agent still starts and its health
 * reports what is missing: every call to the cluster fails with that reason and sends no packet.
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
