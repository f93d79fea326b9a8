/** The words after `can-i` in `kubectl auth can-i VERB RESOURCE [--subresource …]`. */
export type Right = string;

export type Profile = 'observer' | 'deployer' | 'operator' | 'admin';

/** Each profile includes those before it. */
export const PROFILES: readonly Profile[] = ['observer', 'deployer', 'operator', 'admin'];

/** Rights that each profile adds; the profiles before it lack them. */
export const GAINED: Readonly<Record<Profile, readonly Right[]>> = {
  observer: ['list pods', 'watch deployments.apps', 'get pods --subresource=log', 'list events', 'list nodes'],
  deployer: [
    'get configmaps',
    'get secrets',
    'patch secrets',
    'create deployments.apps',
    'patch services',
    'delete pods',
    'create horizontalpodautoscalers.autoscaling',
    'update ingresses.networking.k8s.io',
  ],
  operator: [
    'create pods --subresource=exec',
    'get pods --subresource=exec',
    'create pods --subresource=portforward',
    'create pods --subresource=eviction',
    'patch deployments.apps --subresource=scale',
  ],
  admin: [
    'list secrets',
    'create namespaces',
    'create roles.rbac.authorization.k8s.io',
    'delete rolebindings.rbac.authorization.k8s.io',
    'create customresourcedefinitions.apiextensions.k8s.io',
    'patch nodes',
    'create resourcequotas',
  ],
};

/** Rights that no profile may have: each leads to full control. */
export const REFUSED_TO_ALL: readonly Right[] = [
  '* *',
  'create clusterroles.rbac.authorization.k8s.io',
  'create clusterrolebindings.rbac.authorization.k8s.io',
  'escalate roles.rbac.authorization.k8s.io',
  'bind clusterroles.rbac.authorization.k8s.io',
  'impersonate users',
  'impersonate serviceaccounts',
  'get nodes --subresource=proxy',
  'create serviceaccounts --subresource=token',
  'create mutatingwebhookconfigurations.admissionregistration.k8s.io',
  'approve certificatesigningrequests.certificates.k8s.io',
];
