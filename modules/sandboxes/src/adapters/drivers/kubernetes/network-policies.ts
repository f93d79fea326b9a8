import { SPECIAL_NETWORKS_IPV4 } from '@svc/addresses';
import type { KubeObject } from '@svc/kube';
import { NETWORK_LABEL, OWNER_LABEL } from './names.ts';

export interface PolicyOptions {
  readonly owner: string;
  readonly namespace: string;
  /** IPv4 resolvers that sandboxes may query even in a blocked network. */
  readonly nameservers: readonly string[];
  /** Further IPv4 networks (CIDR) that sandboxes must not reach, such as nodes with public addresses. */
  readonly deniedNetworks: readonly string[];
}

/**
 * The rules of the local driver's firewall as two policies for all sandboxes of an owner. They name no sandbox, so they
 * do not change as sandboxes come and go. IPv6 is refused like there: only IPv4 networks are allowed.
 */
export function networkPolicies({ owner, namespace, nameservers, deniedNetworks }: PolicyOptions): KubeObject[] {
  const isolated: KubeObject = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: `svc-sandboxes-${owner}`, namespace, labels: { [OWNER_LABEL]: owner } },
    spec: {
      podSelector: {
        matchLabels: { [OWNER_LABEL]: owner },
        matchExpressions: [{ key: NETWORK_LABEL, operator: 'Exists' }],
      },
      policyTypes: ['Ingress', 'Egress'], // without rules: nothing in, nothing out
    },
  };
  const special = [...SPECIAL_NETWORKS_IPV4, ...deniedNetworks];
  const resolvers = nameservers.map((address) => ({ ipBlock: { cidr: `${address}/32` } }));
  const ports = ['UDP', 'TCP'].map((protocol) => ({ protocol, port: 53 }));
  const egress: KubeObject = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: `svc-sandboxes-${owner}-egress`, namespace, labels: { [OWNER_LABEL]: owner } },
    spec: {
      podSelector: { matchLabels: { [OWNER_LABEL]: owner, [NETWORK_LABEL]: 'egress' } },
      policyTypes: ['Egress'],
      egress: [
        { to: [{ ipBlock: { cidr: '0.0.0.0/0', except: special } }] },
        ...(resolvers.length === 0 ? [] : [{ to: resolvers, ports }]),
      ],
    },
  };
  return [isolated, egress];
}
