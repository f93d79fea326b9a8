import { toBase64 } from '../sandboxes/base64.ts';
import type { TunnelEndpoints } from './cluster-types.ts';

/** A kubeconfig for kubectl and other Kubernetes clients. Written as JSON, it is valid YAML. */
export interface Kubeconfig {
  apiVersion: 'v1';
  kind: 'Config';
  'current-context': string;
  clusters: { name: string; cluster: { server: string; 'certificate-authority-data'?: string } }[];
  users: { name: string; user: { token: string } }[];
  contexts: { name: string; context: { cluster: string; user: string; namespace: string } }[];
}

/** Options of a kubeconfig. */
export interface KubeconfigOptions {
  /** The token that kubectl presents, preferably of its own service account. Defaults to this client's token. */
  token?: string | undefined;
  namespace?: string | undefined;
}

/**
 * Builds a kubeconfig for the cluster's tunnel address, with one context named after the cluster. Without a certificate
 * authority, clients use the system's.
 */
export function createKubeconfig(endpoints: TunnelEndpoints, token: string, namespace: string): Kubeconfig {
  const { cluster_name: name, kubernetes_url: server, certificate_authority: authority } = endpoints;
  const data =
    authority === null ? {} : { 'certificate-authority-data': toBase64(new TextEncoder().encode(authority)) };
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server, ...data } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace } }],
  };
}
