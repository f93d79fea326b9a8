import { kubeconfigAccess } from '@svc/kube';
import { systemClock, systemRandom } from '@svc/runtime';
import { createLogger } from '@svc/telemetry';
import { KubernetesDriver } from '../../src/adapters/drivers/kubernetes/kubernetes-driver.ts';
import type { KubernetesDriverOptions } from '../../src/adapters/drivers/kubernetes/open-cluster.ts';
import { ImageCatalog } from '../../src/domain/images/catalog.ts';
import { testImage } from './local-subject.ts';

export interface KubernetesSubjectOptions {
  readonly kubeconfig: string;
  readonly namespace: string;
  /** Reference of an image that every node has, with a shell. */
  readonly image: string;
  readonly helperImage: string;
  readonly owner?: string;
  /** Of every driver. */
  readonly changes?: Partial<KubernetesDriverOptions>;
}

export interface KubernetesSubject {
  readonly driver: KubernetesDriver;
  /** Another driver of the same owner, as after a platform restart. */
  again(changes?: Partial<KubernetesDriverOptions>): KubernetesDriver;
  dispose(): Promise<void>;
}

/** A driver in a cluster whose network is not asked to enforce policies, which few test clusters do. */
export function kubernetesSubject(options: KubernetesSubjectOptions): KubernetesSubject {
  const { kubeconfig, namespace, image, helperImage, owner = 'contract', changes: shared = {} } = options;
  const busybox = testImage('busybox', { kind: 'registry', reference: image });
  const again = (changes: Partial<KubernetesDriverOptions> = {}): KubernetesDriver =>
    new KubernetesDriver({
      access: () => kubeconfigAccess(kubeconfig),
      namespace,
      owner,
      catalog: new ImageCatalog([busybox, testImage('local-only', { kind: 'busybox' })], 'busybox'),
      platformImages: null,
      helperImage,
      pullSecret: null,
      runtimeClass: null,
      gvisorRuntimeClass: null,
      storageClass: null,
      gpuResource: null,
      userNamespaces: false,
      nameservers: [],
      deniedNetworks: [],
      networkPolicies: 'trust',
      snapshotFolder: null,
      clock: systemClock,
      random: systemRandom,
      log: createLogger({ level: 'error', name: 'test' }),
      ...shared,
      ...changes,
    });
  const driver = again();
  return {
    driver,
    again,
    dispose: async () => {
      if (driver.status().available) for (const each of await driver.list()) await driver.remove(each.id);
      await driver.close();
    },
  };
}
