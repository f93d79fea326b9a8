import { createKubeClient, type ClusterAccess, type KubeClient, type KubeVersion } from '@svc/kube';
import type { Clock, Random } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import type { DriverStatus } from '../../../domain/driver.ts';
import type { ImageCatalog } from '../../../domain/images/catalog.ts';
import type { PlatformImages } from '../../../domain/images/platform-images.ts';
import { networkPolicies } from './network-policies.ts';
import { whyNotIsolated } from './network-probe.ts';
import { FIELD_MANAGER } from './names.ts';
import { openDisks, type PodDisks } from './pod-disks.ts';
import { PodWatch } from './pod-watch.ts';

/** First minor version in which `hostUsers` is on by default. Earlier servers drop the field silently. */
const FIRST_USER_NAMESPACE_MINOR = 33;

export interface KubernetesDriverOptions {
  /** Defaults to `kubernetes`. */
  readonly name?: string;
  /** Throws if another node may drive the pods now. Called before each change of a pod. Absent: none may. */
  readonly assertOwner?: () => Promise<void>;
  /** Address and identity: of a kubeconfig, or of the pod's own account. Called at each open. */
  readonly access: () => Promise<ClusterAccess>;
  /** A namespace that has nothing but sandboxes. */
  readonly namespace: string;
  /** Stands for a node of an installation; what has another owner is left alone. */
  readonly owner: string;
  /** The most pods that the cluster may report, if it is not trusted. */
  readonly maxPods?: number;
  readonly catalog: ImageCatalog;
  /** Images that nodes pull from the platform. Null: they pull from registries only. */
  readonly platformImages: PlatformImages | null;
  /** OCI reference of an image that has the helper; null if none is configured, which the status then says. */
  readonly helperImage: string | null;
  readonly pullSecret: string | null;
  /** RuntimeClass of sandboxes with `isolation: namespaces`; null for the cluster's default. */
  readonly runtimeClass: string | null;
  /** RuntimeClass of sandboxes with `isolation: gvisor`; null if there is none. */
  readonly gvisorRuntimeClass: string | null;
  /** StorageClass of the claims of new sandboxes; null: pods have their files. */
  readonly storageClass: string | null;
  /** Extended resource of the GPUs of sandboxes; null: they have none. */
  readonly gpuResource: string | null;
  /** Whether nodes support user namespaces (`hostUsers: false`). */
  readonly userNamespaces: boolean;
  /** IPv4 resolvers of sandboxes with egress. Without any, there is no egress. */
  readonly nameservers: readonly string[];
  readonly deniedNetworks: readonly string[];
  /**
   * `verify` tries whether the cluster enforces network policies; `trust` takes the operator's word for it; `verified` has
   * tried it recently.
   */
  readonly networkPolicies: 'verify' | 'trust' | 'verified';
  /** Where the files of snapshots are; null: the driver only streams them. */
  readonly snapshotFolder: string | null;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** A cluster that supports sandboxes. */
export interface OpenCluster {
  readonly client: KubeClient;
  readonly watch: PodWatch;
  readonly helperImage: string;
  readonly userNamespace: boolean;
  readonly whyNoGvisor: string | null;
  /** Null if pods have the files of all sandboxes. */
  readonly disks: PodDisks | null;
}

/** Throws a readable error if the cluster does not respond or cannot run sandboxes. */
export async function openCluster(
  options: KubernetesDriverOptions,
  signal: AbortSignal,
): Promise<{ readonly cluster: OpenCluster; readonly status: DriverStatus }> {
  const { namespace, owner, maxPods, helperImage, clock, random, log, nameservers } = options;
  if (helperImage === null) throw new Error(NO_HELPER);
  const client = createKubeClient(await options.access(), { nowMs: () => clock.nowMs() });
  const watch = new PodWatch({ client, namespace, owner, maxPods, clock, random, log });
  try {
    const version = await client.version(signal);
    await assertRuntimeClass(client, options.runtimeClass, signal);
    const disks = await openDisks({ ...options, client }, signal);
    for (const policy of networkPolicies(options)) {
      await client.apply(policy, { fieldManager: FIELD_MANAGER, force: true, signal });
    }
    await watch.open(signal);
    const userNamespace = options.userNamespaces && hasUserNamespaces(version);
    if (options.networkPolicies === 'verify') {
      const reason = await whyNotIsolated({ client, watch, pods: { ...options, helperImage, userNamespace } }, signal);
      if (reason !== null) throw new Error(`the cluster does not isolate sandboxes: ${reason}`);
    } else if (options.networkPolicies === 'trust') {
      log.warn('sandboxes are isolated only if the cluster enforces network policies, which was not verified');
    }
    if (!userNamespace) log.warn('root in a sandbox is root on its node if it escapes: user namespaces are off');
    const cluster: OpenCluster = {
      client,
      watch,
      helperImage,
      userNamespace,
      whyNoGvisor: await whyNoGvisor(client, options, signal),
      disks,
    };
    return {
      cluster,
      status: {
        available: true,
        details: {
          runtime: `Kubernetes ${version.gitVersion}`,
          namespace,
          user_namespace: userNamespace,
          network_policies: options.networkPolicies === 'trust' ? 'not verified' : 'enforced',
          egress: nameservers.length > 0 ? 'available' : NO_EGRESS,
          gvisor: cluster.whyNoGvisor === null,
          disk_limit:
            options.storageClass === null
              ? 'a sandbox that exceeds its disk is evicted'
              : `that of the volumes of the StorageClass ${options.storageClass}`,
        },
      },
    };
  } catch (error) {
    await watch.close();
    client.close();
    throw error;
  }
}

const NO_HELPER =
  'sandboxes.kubernetes.helper_image is not set; name an image that has the helper, such as the image of the platform';

/** Why there is no egress without resolvers: the cluster's own are at an address that sandboxes must not reach. */
export const NO_EGRESS = 'sandboxes.nameservers names no resolvers';

export async function closeCluster({ client, watch }: OpenCluster): Promise<void> {
  await watch.close();
  client.close();
}

async function assertRuntimeClass(client: KubeClient, name: string | null, signal: AbortSignal): Promise<void> {
  if (name === null || (await findRuntimeClass(client, name, signal))) return;
  throw new Error(`the cluster has no RuntimeClass ${name}`);
}

async function whyNoGvisor(
  client: KubeClient,
  { gvisorRuntimeClass: name }: KubernetesDriverOptions,
  signal: AbortSignal,
): Promise<string | null> {
  if (name === null) return 'no RuntimeClass for gVisor is configured';
  return (await findRuntimeClass(client, name, signal)) ? null : `the cluster has no RuntimeClass ${name}`;
}

async function findRuntimeClass(client: KubeClient, name: string, signal: AbortSignal): Promise<boolean> {
  return (await client.get({ apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', name }, signal)) !== null;
}

function hasUserNamespaces({ major, minor }: KubeVersion): boolean {
  const number = Number.parseInt(minor, 10); // some vendors append a plus
  return major === '1' ? number >= FIRST_USER_NAMESPACE_MINOR : Number(major) > 1;
}
