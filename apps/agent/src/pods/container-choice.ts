import { fieldAt, type KubeClient, type KubeObject } from '@svc/kube';
import { agentErrors } from '../errors.ts';

/** The annotation for the default container, shared with kubectl. */
const DEFAULT_CONTAINER = 'kubectl.kubernetes.io/default-container';
const CONTAINER_LISTS = ['containers', 'initContainers', 'ephemeralContainers'] as const;

/** Returns the pod, or throws NOT_FOUND with its name. */
export async function findPod(
  client: KubeClient,
  { namespace, pod: name }: { namespace: string; pod: string },
  signal: AbortSignal,
): Promise<KubeObject> {
  const pod = await client.get({ apiVersion: 'v1', kind: 'Pod', namespace, name }, signal);
  if (pod !== null) return pod;
  throw agentErrors.NOT_FOUND({
    details: { field: 'pod', what: `pod ${namespace}/${name}`, reason: 'no such pod in this namespace' },
  });
}

/**
 * Returns the named container, else the annotation's default, else the only one. Throws INVALID_REQUEST with the names.
 */
export function chooseContainer(pod: KubeObject, wanted: string | undefined): string {
  if (wanted !== undefined && wanted !== '') {
    const all = CONTAINER_LISTS.flatMap((list) => namesIn(pod, list));
    if (all.includes(wanted)) return wanted;
    throw unclear(pod, all, `has no container ${wanted}`);
  }
  const names = namesIn(pod, 'containers');
  const annotated = pod.metadata.annotations?.[DEFAULT_CONTAINER];
  if (annotated !== undefined && names.includes(annotated)) return annotated;
  const [only] = names;
  if (only !== undefined && names.length === 1) return only;
  throw unclear(pod, names, 'has several containers');
}

function namesIn(pod: KubeObject, list: (typeof CONTAINER_LISTS)[number]): string[] {
  const containers = fieldAt(pod, 'spec', list);
  if (!Array.isArray(containers)) return [];
  return containers.map((container) => fieldAt(container, 'name')).filter((name) => typeof name === 'string');
}

function unclear(pod: KubeObject, names: readonly string[], what: string): Error {
  const reason = `pod ${pod.metadata.name} ${what}; its containers are ${names.join(', ')}`;
  return agentErrors.INVALID_REQUEST({ details: { field: 'container', reason, containers: names.slice(0, 50) } });
}
