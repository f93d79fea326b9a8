import { join } from 'node:path';
import { backgroundClock, systemRandom, unlimitedDisk } from '@svc/runtime';
import type { SandboxesConfig } from '../config.ts';
import type { SandboxesDependencies } from './dependencies.ts';
import { newSandboxId } from '../domain/identifiers.ts';
import type { SandboxDriver } from '../domain/driver.ts';
import { LocalDriver } from '../adapters/drivers/local/local-driver.ts';
import type { MountServer } from '../routes/mounts/mount-server.ts';
import { runFolderOf } from '../adapters/drivers/local/run-folder.ts';
import type { ImageCatalog } from '../domain/images/catalog.ts';
import { nodeSubject } from '../domain/images/pull-credentials.ts';
import type { PlatformRegistry } from '../adapters/images/platform-registry.ts';
import type { ImageStore } from '../adapters/images/image-store.ts';
import { defaultsOf } from './warm-pool-assembly.ts';

interface DriverDeps {
  deps: SandboxesDependencies;
  folder: string;
  catalog: ImageCatalog;
  images: ImageStore;
  registry: PlatformRegistry;
  egressRefused: (sandboxId: string, host: string) => void;
  mountServer: MountServer;
}

type DriverFactory = (driverDeps: DriverDeps) => Promise<SandboxDriver>;

/** A factory for each value of the key `driver`. */
const FACTORIES: Readonly<Record<SandboxesConfig['driver'], DriverFactory>> = {
  local: localDriver,
  docker: dockerDriver,
  kubernetes: kubernetesDriver,
};

/** Creates the configured driver. `folder` is the module's own folder inside the data folder. */
export function createDriver(
  deps: SandboxesDependencies,
  folder: string,
  catalog: ImageCatalog,
  images: ImageStore,
  registry: PlatformRegistry,
  egressRefused: (sandboxId: string, host: string) => void,
  mountServer: MountServer,
): Promise<SandboxDriver> {
  return FACTORIES[deps.config.driver]({ deps, folder, catalog, images, registry, egressRefused, mountServer });
}

/** Loads the driver on demand: most platforms do not need an engine client in memory. */
async function dockerDriver({ deps, catalog, images }: DriverDeps): Promise<SandboxDriver> {
  const { docker, registries, nameservers } = deps.config;
  const { DockerDriver } = await import('../adapters/drivers/docker/docker-driver.ts');
  const { createOwners } = await import('../adapters/drivers/docker/names.ts');
  return new DockerDriver({
    engine: docker,
    owners: createOwners(deps.installationId, deps.node, deps.dataFolder),
    helperBinaries: deps.helperBinaries,
    catalog,
    images,
    logins: registries,
    addressPrefix: docker.address_prefix,
    nameservers,
    network: docker.network ?? null,
    log: deps.log,
  });
}

/** Address of the API server inside any cluster. */
const CLUSTER_HOST = { host: 'kubernetes.default.svc', port: '443' } as const;

async function kubernetesDriver({ deps, folder, catalog, registry }: DriverDeps): Promise<SandboxDriver> {
  const { kubernetes, nameservers } = deps.config;
  const { kubeconfig } = kubernetes;
  const { inClusterAccess, kubeconfigAccess } = await import('@svc/kube');
  const { createOwner } = await import('../adapters/drivers/docker/names.ts');
  const { KubernetesDriver } = await import('../adapters/drivers/kubernetes/kubernetes-driver.ts');
  return new KubernetesDriver({
    access: () =>
      kubeconfig === undefined ? inClusterAccess(CLUSTER_HOST) : kubeconfigAccess(kubeconfig, kubernetes.context),
    namespace: kubernetes.namespace,
    owner: createOwner(deps.installationId, deps.node),
    catalog,
    platformImages: registry.imagesFor(nodeSubject(deps.node)),
    helperImage: kubernetes.helper_image ?? null,
    pullSecret: kubernetes.pull_secret ?? null,
    runtimeClass: kubernetes.runtime_class ?? null,
    gvisorRuntimeClass: kubernetes.gvisor_runtime_class ?? null,
    storageClass: kubernetes.storage_class ?? null,
    gpuResource: kubernetes.gpu_resource ?? null,
    userNamespaces: kubernetes.user_namespaces,
    nameservers,
    deniedNetworks: kubernetes.denied_networks,
    networkPolicies: kubernetes.network_policies,
    snapshotFolder: join(folder, 'pod-snapshots'),
    clock: deps.clock ?? backgroundClock,
    random: systemRandom,
    log: deps.log,
  });
}

async function localDriver({ deps, folder, images, egressRefused, mountServer }: DriverDeps): Promise<SandboxDriver> {
  const { quotaLimits, disk = unlimitedDisk } = deps;
  return new LocalDriver({
    disk,
    issueCertificate: async (authority, host) => {
      const { makeServerCertificate } = await import('@svc/certificates'); // takes megabytes; few platforms need it
      return makeServerCertificate(authority, [host], new Date());
    },
    dataFolder: folder,
    runFolder: runFolderOf(deps.dataFolder),
    helperBinaries: deps.helperBinaries,
    images,
    runtime: deps.config.runtime,
    isolation: deps.config.isolation,
    runsc: deps.config.runsc ?? null,
    addressPrefix: deps.config.address_prefix,
    nameservers: deps.config.nameservers,
    egressRefused,
    serveMount: (...request) => mountServer.serve(...request),
    tenants: {
      workspaceOf: async (sandboxId) => {
        const workspaceUuid = await mountServer.workspaceOf(sandboxId);
        if (workspaceUuid !== null) await quotaLimits.readLimits(workspaceUuid); // so that the owner is known
        return workspaceUuid;
      },
      shareOf: quotaLimits.shareOf,
    },
    prepared: { ...defaultsOf(deps.config), count: deps.config.prepared_starts },
    newId: () => newSandboxId(systemRandom.bytes),
    log: deps.log,
  });
}
