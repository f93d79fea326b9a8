import type { DeploymentEvent } from '@svc/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { deploymentQuery, deploymentsKey, isFinished, useClusters } from '../../../api/clusters.ts';
import { useIsSeen } from '../../../session/use-is-seen.ts';
import { useWorkspace } from '../../../session/use-session.ts';

export type DeployProgress = Extract<DeploymentEvent, { type: 'progress' }>;

/** The current state of a deployment, with each step as the agent reports it. */
export function useDeployment(clusterId: string, id: string) {
  const api = useClusters();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const isSeen = useIsSeen();
  const { queryKey, ...options } = deploymentQuery(api, workspace, clusterId, id);
  const deployment = useQuery({ queryKey, ...options });
  const [progress, setProgress] = useState<DeployProgress | null>(null);
  const { uuid } = workspace;
  const isOpen = deployment.data !== undefined && !isFinished(deployment.data);
  useEffect(() => {
    if (!isSeen || !isOpen) return;
    const gone = new AbortController();
    const key = deploymentQuery(api, { uuid }, clusterId, id).queryKey;
    const follow = async (): Promise<void> => {
      for await (const update of api.of(clusterId).followDeployment(id, { signal: gone.signal })) {
        if (update.type === 'progress') setProgress(update);
        if (update.type === 'state')
          queryClient.setQueryData(key, (data) => data && { ...data, status: update.status });
        if (update.type === 'result') {
          queryClient.setQueryData(key, update.result);
          void queryClient.invalidateQueries({ queryKey: deploymentsKey({ uuid }, clusterId) });
        }
      }
    };
    // Refused or ended: polling suffices.
    follow().catch(() => undefined);
    return () => gone.abort();
  }, [api, uuid, clusterId, id, isSeen, isOpen, queryClient]);
  return { deployment, progress };
}
