import { fieldAt, isStatusError, type KubeClient } from '@svc/kube';

/** True if metrics.k8s.io responds; a registered API service without a live backend does not count. */
export async function metricsAreServed(client: Pick<KubeClient, 'raw'>, signal: AbortSignal): Promise<boolean> {
  try {
    await client.raw('/apis/metrics.k8s.io/v1beta1', signal);
    return true;
  } catch (error) {
    if (isStatusError(error)) return false;
    throw error;
  }
}

/** True if a deploy could create a working autoscaler: metrics are served and the agent may write autoscalers. */
export async function canAutoScale(client: Pick<KubeClient, 'raw' | 'create'>, signal: AbortSignal): Promise<boolean> {
  if (!(await metricsAreServed(client, signal))) return false;
  const review = await client.create(
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      metadata: { name: '' },
      spec: {
        resourceAttributes: { group: 'autoscaling', resource: 'horizontalpodautoscalers', verb: 'patch' },
      },
    },
    signal,
  );
  return fieldAt(review, 'status', 'allowed') === true;
}
