import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClusterAccess } from './access.ts';
import { kubeErrors } from './errors.ts';
import { fileToken } from './token-source.ts';

/** Environment of a pod. */
export interface InClusterEnvironment {
  /** `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT`, set by the kubelet in every pod. */
  host: string | undefined;
  port: string | undefined;
  /** Folder of `token`, `ca.crt` and `namespace`. */
  folder?: string;
  nowMs?: () => number;
}

/** Returns the access of a pod's own service account. Throws `NOT_IN_CLUSTER`. */
export async function inClusterAccess(environment: InClusterEnvironment): Promise<ClusterAccess> {
  const { host, port, folder = '/var/run/secrets/kubernetes.io/serviceaccount', nowMs = Date.now } = environment;
  if (host === undefined || host === '' || port === undefined || port === '') {
    throw kubeErrors.NOT_IN_CLUSTER({ details: { reason: 'KUBERNETES_SERVICE_HOST is not set' } });
  }
  try {
    const [authority, namespace] = await Promise.all([
      readFile(join(folder, 'ca.crt'), 'utf8'),
      readFile(join(folder, 'namespace'), 'utf8'),
    ]);
    const address = host.includes(':') ? `[${host}]` : host;
    return {
      server: new URL(`https://${address}:${port}`),
      authority,
      insecureSkipVerify: false,
      token: fileToken(join(folder, 'token'), nowMs),
      namespace: namespace.trim(),
    };
  } catch (cause) {
    throw kubeErrors.NOT_IN_CLUSTER({ details: { reason: 'no service account is mounted' }, cause });
  }
}
