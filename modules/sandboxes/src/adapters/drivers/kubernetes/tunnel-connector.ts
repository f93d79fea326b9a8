import { createHash } from 'node:crypto';
import {
  createKubeClient,
  isStatusError,
  type CarriedConnections,
  type ClusterAccess,
  type KubeClient,
} from '@svc/kube';
import { SANDBOX_PROFILE_PATH, SANDBOXES_SERVICE, type SandboxProfile } from '@svc/protocol';
import type { Clock, Random } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import { Type } from 'typebox';
import { Check } from 'typebox/schema';
import { offlineError } from '../../../domain/clusters/cluster-drivers.ts';
import {
  clusterDriverName,
  type ClusterConnector,
  type ClusterRecord,
  type ConnectedClusters,
} from '../../../domain/clusters/sandbox-cluster.ts';
import type { ImageCatalog } from '../../../domain/images/catalog.ts';
import type { PlatformRegistry } from '../../images/platform-registry.ts';
import { createOwner } from '../docker/names.ts';
import { KubernetesDriver } from './kubernetes-driver.ts';

/** Clusters whose API servers are reached over their agents' tunnels. */
/** Of one cluster, which the platform keeps in memory. Far more than a workspace may have. */
const MAX_PODS = 5000;

export interface TunnelledClusters extends ConnectedClusters {
  /** Connections that the agent of the cluster accepts for sandboxes; null if this node has no tunnel of it. */
  connections(id: string): CarriedConnections | null;
}

export interface TunnelConnectorOptions {
  readonly clusters: TunnelledClusters;
  readonly installationId: string;
  readonly node: string;
  readonly catalog: ImageCatalog;
  readonly registry: Pick<PlatformRegistry, 'imagesFor'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

const objectName = Type.String({ pattern: '^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$' });
const nullableName = Type.Union([objectName, Type.Null()]);

/** The agent belongs to another party than the platform. */
const profileSchema = Type.Object({
  namespace: Type.String({ pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$' }),
  helper_image: Type.String({ minLength: 1, maxLength: 512 }),
  pull_secret: nullableName,
  runtime_class: nullableName,
  gvisor_runtime_class: nullableName,
  storage_class: Type.Optional(nullableName), // earlier agents do not name it
  user_namespaces: Type.Boolean(),
  nameservers: Type.Array(Type.String({ format: 'ipv4' }), { maxItems: 3 }),
  denied_networks: Type.Array(Type.String({ pattern: '^[0-9]{1,3}(\\.[0-9]{1,3}){3}/([0-9]|[12][0-9]|3[0-2])$' }), {
    maxItems: 100,
  }),
  network_policies: Type.Union([Type.Literal('verify'), Type.Literal('trust')]),
});

/** Creates drivers whose API servers are behind tunnels. The agent adds its credentials and decides what they are used for. */
export function createTunnelConnector(options: TunnelConnectorOptions): ClusterConnector {
  return {
    async open(cluster, isVerified, signal) {
      const access = accessTo(options.clusters, cluster);
      const profile = await withClient(access, (client) => readProfile(client, signal));
      const driver = createDriver(options, cluster, access, profile, isVerified);
      const status = await driver.open(signal);
      if (!status.available) {
        await driver.close();
        throw new Error(status.reason);
      }
      const hasGvisor = driver.whyUnsupported('gvisor') === null;
      return { driver, fingerprint: fingerprintOf(profile), hasGvisor };
    },
    async fingerprint(cluster, signal) {
      const access = accessTo(options.clusters, cluster);
      try {
        return fingerprintOf(await withClient(access, (client) => readProfile(client, signal)));
      } catch (error) {
        if (error instanceof Error && isStatusError(error.cause)) return null;
        throw error;
      }
    },
  };
}

function accessTo(clusters: TunnelledClusters, { id, name }: ClusterRecord): ClusterAccess {
  const connections = clusters.connections(id);
  if (connections === null) throw offlineError(name);
  return {
    server: new URL(`http://${SANDBOXES_SERVICE}`),
    insecureSkipVerify: false,
    token: { current: () => Promise.resolve(null), invalidate: () => undefined },
    namespace: '',
    connections,
  };
}

async function withClient<Result>(
  access: ClusterAccess,
  use: (client: KubeClient) => Promise<Result>,
): Promise<Result> {
  const client = createKubeClient(access);
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

function createDriver(
  { clusters, installationId, node, catalog, registry, clock, random, log }: TunnelConnectorOptions,
  cluster: ClusterRecord,
  access: ClusterAccess,
  profile: SandboxProfile,
  isVerified: boolean,
): KubernetesDriver {
  const { network_policies: networkPolicies } = profile;
  return new KubernetesDriver({
    name: clusterDriverName(cluster.id),
    access: () => Promise.resolve(access),
    assertOwner: async () => {
      if ((await clusters.holder(cluster.id)) !== node) throw offlineError(cluster.name);
    },
    namespace: profile.namespace,
    // Of the cluster: whichever node has its tunnel finds the pods.
    owner: createOwner(installationId, cluster.id),
    maxPods: MAX_PODS,
    catalog,
    platformImages: registry.imagesFor({ subject: cluster.id, workspaceUuid: cluster.workspaceUuid }),
    helperImage: profile.helper_image,
    pullSecret: profile.pull_secret,
    runtimeClass: profile.runtime_class,
    gvisorRuntimeClass: profile.gvisor_runtime_class,
    storageClass: profile.storage_class ?? null,
    gpuResource: null,
    userNamespaces: profile.user_namespaces,
    nameservers: profile.nameservers,
    deniedNetworks: profile.denied_networks,
    networkPolicies: networkPolicies === 'verify' && isVerified ? 'verified' : networkPolicies,
    snapshotFolder: null, // another node may have the tunnel next
    clock,
    random,
    log: log.child({ cluster: cluster.id }),
  });
}

const TOO_OLD = 'its agent offers no sandboxes; upgrade it and set sandboxes.enabled in its configuration';

async function readProfile(client: KubeClient, signal: AbortSignal): Promise<SandboxProfile> {
  let profile: unknown;
  try {
    profile = await client.raw(SANDBOX_PROFILE_PATH, signal);
  } catch (error) {
    if (isStatusError(error)) throw new Error(error.message, { cause: error });
    signal.throwIfAborted();
    throw new Error(TOO_OLD, { cause: error });
  }
  if (!Check(profileSchema, profile)) throw new Error('its agent describes sandboxes in an unknown way');
  return profile;
}

function fingerprintOf(profile: SandboxProfile): string {
  return createHash('sha256').update(JSON.stringify(profile)).digest('hex');
}
