import type { IncomingMessage } from 'node:http';
import type { SandboxProfile } from '@svc/protocol';
import type { AgentConfig } from '../config/schema.ts';
import { splitPath } from './kubernetes-policy.ts';

type Rules = Pick<AgentConfig, 'policy' | 'sandboxes'>;

/** Everything that the platform's driver of sandboxes asks an API server, below `NS`, the namespace of the sandboxes. */
const ALLOWED: readonly (readonly [methods: readonly string[], path: readonly string[]])[] = [
  [['GET'], ['version']],
  [['GET'], ['api', 'v1']],
  [['GET'], ['apis', 'networking.k8s.io', 'v1']],
  [['GET'], ['apis', 'node.k8s.io', 'v1']],
  [['GET'], ['apis', 'node.k8s.io', 'v1', 'runtimeclasses', '*']],
  [
    ['GET', 'POST'],
    ['api', 'v1', 'namespaces', 'NS', 'pods'],
  ],
  [
    ['GET', 'PATCH', 'DELETE'],
    ['api', 'v1', 'namespaces', 'NS', 'pods', '*'],
  ],
  [
    ['GET', 'POST'],
    ['api', 'v1', 'namespaces', 'NS', 'pods', '*', 'exec'],
  ],
  [['GET'], ['apis', 'networking.k8s.io', 'v1', 'namespaces', 'NS', 'networkpolicies']],
  [['PATCH'], ['apis', 'networking.k8s.io', 'v1', 'namespaces', 'NS', 'networkpolicies', '*']],
  // The credential of the platform's registry. Written only: no Secret can be read.
  [['PATCH'], ['api', 'v1', 'namespaces', 'NS', 'secrets', 'svc-sandbox-images-*']],
];

/** What it asks in addition if the files of sandboxes are on claims. */
const ALLOWED_FOR_DISKS: typeof ALLOWED = [
  [['GET'], ['apis', 'storage.k8s.io', 'v1']],
  [['GET'], ['apis', 'storage.k8s.io', 'v1', 'storageclasses', '*']],
  [
    ['GET', 'POST'],
    ['api', 'v1', 'namespaces', 'NS', 'persistentvolumeclaims'],
  ],
  [
    ['GET', 'PATCH', 'DELETE'],
    ['api', 'v1', 'namespaces', 'NS', 'persistentvolumeclaims', '*'],
  ],
  // They say why a claim has no volume.
  [['GET'], ['api', 'v1', 'namespaces', 'NS', 'events']],
];

/** Why the platform must not run sandboxes here; null if it may. */
export function whyNoSandboxes({ policy, sandboxes }: Rules): string | null {
  if (!sandboxes.enabled) return 'the configuration of its agent does not enable sandboxes (sandboxes.enabled)';
  if (policy.read_only) return 'this cluster is read-only by its policy';
  if (sandboxes.helper_image === undefined) {
    return 'the configuration of its agent names no image with the helper (sandboxes.helper_image)';
  }
  return null;
}

/** Where sandboxes run, for the platform. Call it only if `whyNoSandboxes` is null. */
export function sandboxProfile({ sandboxes }: Pick<AgentConfig, 'sandboxes'>): SandboxProfile {
  return {
    namespace: sandboxes.namespace,
    helper_image: sandboxes.helper_image ?? '',
    pull_secret: sandboxes.pull_secret ?? null,
    runtime_class: sandboxes.runtime_class ?? null,
    gvisor_runtime_class: sandboxes.gvisor_runtime_class ?? null,
    storage_class: sandboxes.storage_class ?? null,
    user_namespaces: sandboxes.user_namespaces,
    nameservers: sandboxes.nameservers,
    denied_networks: sandboxes.denied_networks,
    network_policies: sandboxes.network_policies,
  };
}

/**
 * Why this request of the platform's driver must not reach the API server, or null. Only the namespace of the sandboxes is
 * reachable, whatever rights the agent has.
 */
export function explainSandboxRefusal(request: IncomingMessage, rules: Rules): string | null {
  const reason = whyNoSandboxes(rules);
  if (reason !== null) return reason;
  const parts = splitPath(request.url ?? '/');
  if (parts === null) return 'the path is not in canonical form';
  const { namespace, storage_class: storageClass } = rules.sandboxes;
  const allowed = storageClass === undefined ? ALLOWED : [...ALLOWED, ...ALLOWED_FOR_DISKS];
  const isAllowed = allowed.some(([methods, path]) => {
    return methods.includes(request.method ?? 'GET') && isPath(parts, path, namespace);
  });
  return isAllowed ? null : `sandboxes need no such request, and may use only the namespace ${namespace}`;
}

function isPath(parts: readonly string[], path: readonly string[], namespace: string): boolean {
  if (parts.length !== path.length) return false;
  return path.every((word, index) => {
    if (word.endsWith('*')) return parts[index]?.startsWith(word.slice(0, -1)) === true;
    return parts[index] === (word === 'NS' ? namespace : word);
  });
}
