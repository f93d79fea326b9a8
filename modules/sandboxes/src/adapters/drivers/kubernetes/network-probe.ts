import type { KubeClient } from '@svc/kube';
import { fieldAt, recordsAt } from '@svc/kube/values';
import { OWNER_LABEL, POD } from './names.ts';
import { probeName, probePod, type PodOptions, type ProbeKind } from './pod-request.ts';
import type { PodView } from './pod-view.ts';
import type { PodWatch } from './pod-watch.ts';

/** How long a policy may take to reach a new pod, and a pod to reach the API server. */
const PROBE_SECONDS = 30;
const PROBE_LIMIT_MS = 90_000;

export interface ProbeDeps {
  readonly client: KubeClient;
  readonly watch: PodWatch;
  readonly pods: Omit<PodOptions, 'image'>;
}

/**
 * Why the cluster does not isolate sandboxes; null if it does. No field of the API says whether the network enforces
 * policies, so two pods try it: one that the policies do not select must reach the API server, as proof that the other
 * one, which they select, is blocked by them.
 */
export async function whyNotIsolated(deps: ProbeDeps, signal: AbortSignal): Promise<string | null> {
  const foreign = await findForeignPolicy(deps, signal);
  if (foreign !== null) {
    return `the network policy ${foreign} in namespace ${deps.pods.namespace} may allow what ours do not; use a namespace of its own`;
  }
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PROBE_LIMIT_MS)]);
  const [reached, isolated] = await Promise.all([probe('open', deps, limit), probe('isolated', deps, limit)]);
  if (!reached) return 'even a pod that no network policy selects did not reach the API server, so nothing is proved';
  if (isolated) return null;
  return (
    'its network does not enforce network policies (a pod that they select still reached the API server or its node); ' +
    'install a network plugin that does, such as Calico or Cilium'
  );
}

/** Policies add up: one that allows something to all pods of the namespace also allows it to sandboxes. */
async function findForeignPolicy({ client, pods }: ProbeDeps, signal: AbortSignal): Promise<string | null> {
  const kind = { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' };
  for await (const { items } of client.list(kind, { namespace: pods.namespace, signal })) {
    for (const policy of items) {
      const isOurs = fieldAt(policy.metadata, 'labels', OWNER_LABEL) !== undefined;
      const allows = recordsAt(policy, 'spec', 'ingress').length + recordsAt(policy, 'spec', 'egress').length > 0;
      if (!isOurs && allows) return policy.metadata.name;
    }
  }
  return null;
}

/** Whether the probe succeeded. Throws a readable error if it did not run. */
async function probe(kind: ProbeKind, { client, watch, pods }: ProbeDeps, signal: AbortSignal): Promise<boolean> {
  const name = probeName(pods.owner, kind);
  const reference = { ...POD, name, namespace: pods.namespace };
  const remove = async (limit: AbortSignal): Promise<void> => {
    if (await client.delete(reference, { signal: limit })) await watch.until(name, (pod) => pod === null, limit);
  };
  await remove(signal); // left by an earlier process
  try {
    watch.note(await client.create(probePod(kind, pods, PROBE_SECONDS), signal));
    const isOver = (pod: PodView | null): boolean => pod === null || pod.exitCode !== null || pod.failure !== null;
    const ended = await watch.until(name, isOver, signal);
    if (ended?.exitCode === 0) return true;
    if (ended?.exitCode === 1) return false;
    throw new Error(`the pod ${name} failed: ${ended?.failure?.reason ?? 'it was deleted'}`);
  } catch (error) {
    if (!signal.aborted) throw error;
    const hint = pods.userNamespace ? '; nodes without user namespaces need user_namespaces: false' : '';
    const reason = watch.find(name)?.pending?.reason ?? 'it did not end in time';
    throw new Error(`the pod ${name} did not run: ${reason}${hint}`, { cause: error });
  } finally {
    await remove(AbortSignal.timeout(PROBE_LIMIT_MS)).catch(() => undefined); // the next start removes it
  }
}
