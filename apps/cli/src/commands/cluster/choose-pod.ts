import type { Cluster, Pod, Workload, WorkloadKind } from '@svc/sdk';
import { CommandFailure, usageFailure } from '../../client/command-failure.ts';

const KINDS: Readonly<Record<string, WorkloadKind>> = {
  deployment: 'Deployment',
  deployments: 'Deployment',
  deploy: 'Deployment',
  statefulset: 'StatefulSet',
  statefulsets: 'StatefulSet',
  sts: 'StatefulSet',
  daemonset: 'DaemonSet',
  daemonsets: 'DaemonSet',
  ds: 'DaemonSet',
  job: 'Job',
  jobs: 'Job',
};

export interface ChosenPod {
  pod: string;
  /** Number of pods to choose from; 1 for a pod given by name. */
  candidates: number;
}

/** Chooses a pod by name or from a workload: `web-1`, `pod/web-1`, `deployment/web`. Prefers ready pods. */
export async function choosePod(
  cluster: Cluster,
  target: string,
  namespace: string,
  signal: AbortSignal,
): Promise<ChosenPod> {
  const [first = '', second, ...more] = target.split('/');
  if (second === undefined) return { pod: first, candidates: 1 };
  if (first === 'pod' || first === 'pods') return { pod: second, candidates: 1 };
  const kind = KINDS[first.toLowerCase()];
  if (kind === undefined || second === '' || more.length > 0) {
    throw usageFailure(
      `${JSON.stringify(target)} is not a pod`,
      'use a pod name, or a workload such as deployment/web',
    );
  }
  const { selector } = await findWorkload(cluster, { kind, namespace, name: second }, signal);
  if (selector === null) throw new CommandFailure(`${target} has no pod selector`);
  const { items } = await cluster.pods({ namespace, labelSelector: selector }, { signal });
  const [best] = items.toSorted((left, right) => rankOf(left) - rankOf(right));
  if (best === undefined)
    throw new CommandFailure(`${target} has no pods`, { hint: 'run svc cluster workloads to see why' });
  return { pod: best.name, candidates: items.length };
}

function rankOf({ ready, state }: Pod): number {
  if (ready) return 0;
  return state === 'Running' ? 1 : 2;
}

async function findWorkload(
  cluster: Cluster,
  { kind, namespace, name }: { kind: WorkloadKind; namespace: string; name: string },
  signal: AbortSignal,
): Promise<Workload> {
  let cursor: string | undefined;
  do {
    const page = await cluster.workloads({ kind, namespace, name, pageSize: 200, cursor }, { signal });
    const found = page.items.find((workload) => workload.name === name);
    if (found !== undefined) return found;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  const hint = 'list workloads with svc cluster workloads, or select another namespace with --namespace';
  throw new CommandFailure(`${kind} ${name} not found in namespace ${namespace}`, { hint });
}
