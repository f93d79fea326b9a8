import { recordsAt, textAt } from '@svc/kube/values';
import { clusterErrors } from '../../errors.ts';
import type { KubernetesApi, KubernetesCaller } from '../../adapters/kubernetes/kubernetes-api.ts';
import type { ShellRequest } from '../../domain/kubernetes/shell-request.ts';

const DEFAULT_CONTAINER = 'kubectl.kubernetes.io/default-container';

/** Returns the requested container, else the pod's default container, else its only one. */
export async function chooseContainer(
  api: KubernetesApi,
  caller: KubernetesCaller,
  { namespace, pod, container }: ShellRequest,
  signal: AbortSignal,
): Promise<string> {
  const found = await api.get(caller, { path: `/api/v1/namespaces/${namespace}/pods/${pod}`, signal });
  const specs = ['containers', 'initContainers', 'ephemeralContainers'].flatMap((each) =>
    recordsAt(found, 'spec', each),
  );
  const names = specs.map((each) => textAt(each, 'name') ?? '');
  const wanted = container ?? textAt(found, 'metadata', 'annotations', DEFAULT_CONTAINER);
  if (wanted !== null && names.includes(wanted)) return wanted;
  const [only, ...others] = recordsAt(found, 'spec', 'containers').map((each) => textAt(each, 'name') ?? '');
  if (container === null && only !== undefined && others.length === 0) return only;
  const reason = `container must be one of ${names.join(', ')}`;
  throw clusterErrors.INVALID_REQUEST({ details: { field: 'container', reason } });
}
