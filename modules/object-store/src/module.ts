import type { KeyObject } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AuditLog, HeldRights } from '@svc/access';
import { describeHoldings, type ClientOfRequest, type ReadinessCheck, type ServiceModule } from '@svc/http';
import { sumUsage, type QuotaLimits, type WorkspaceTraffic } from '@svc/quotas';
import type { Clock, DiskSpace } from '@svc/runtime';
import type { Logger, Metrics } from '@svc/telemetry';
import { claimEngine } from './adapters/engines/assembly.ts';
import type { HashingDeps } from './domain/checksums/body-hasher.ts';
import { HashKernels } from './domain/checksums/hasher.ts';
import { DigestThread } from './domain/checksums/digest-thread.ts';
import type { ObjectStoreConfig } from './config.ts';
import { ActiveReads } from './domain/active-reads.ts';
import { createCustomDomains, type CustomDomains } from './domain/custom-domains/create-custom-domains.ts';
import { NotificationDispatcher } from './domain/notifications/notification-dispatcher.ts';
import { fsck, type FsckReport } from './domain/fsck.ts';
import { createIdentifiers } from './domain/identifiers.ts';
import { Janitor } from './domain/janitor.ts';
import { ReadFence } from './domain/read-fence.ts';
import { KeyRotation } from './domain/key-rotation/key-rotation.ts';
import { Scrubber } from './domain/scrub/scrubber.ts';
import { createServices, type StoreServices } from './domain/services.ts';
import type { StoreDeps } from './domain/store-deps.ts';
import { UsageRecorder } from './domain/usage/usage-recorder.ts';
import { registerManagementRoutes } from './routes/index.ts';
import { createBucketFolders, type BucketFolders } from './routes/folders/bucket-folders.ts';
import { createFolderForks, type FolderForks } from './routes/folders/folder-forks.ts';
import { createPublicHost } from './routes/public-host.ts';
import { PublicOrigin } from './routes/public-origin.ts';
import { Cursors } from './routes/objects/cursor.ts';
import type { BlobStore } from './domain/ports/blob-store.ts';
import type { CertificateAuthority, DomainResolver } from './domain/ports/custom-domains.ts';
import type { MakerRights } from './domain/ports/maker-rights.ts';
import type { MetadataStore } from './domain/ports/metadata-store.ts';
import type { WebhookSender } from './domain/ports/notifications.ts';
import type { BucketRecord } from './domain/ports/records.ts';
import type { OwnerDirectory } from './domain/ports/owner-directory.ts';
import type { HeldLease } from './domain/ports/work-leases.ts';
import { createS3Plane } from './s3/index.ts';
import { S3Audit } from './s3/s3-audit.ts';
import type { S3Oversight } from './s3/s3-context.ts';
import { deriveKey } from './domain/secrets/derive-key.ts';
import type { KeyRing } from './domain/secrets/key-ring.ts';
import type { ObjectStoreState } from './state.ts';
import { createSites, type Sites } from './routes/sites/index.ts';
import { TlsCertificates } from './routes/sites/tls-certificates.ts';

export interface ObjectStoreDependencies {
  /** The module closes both. */
  metadata: MetadataStore;
  blobs: BlobStore;
  /** Resolves the users and workspaces that access can be granted to. */
  owners: OwnerDirectory;
  /** What the creators of access keys are currently allowed to do. */
  rights: MakerRights;
  audit: AuditLog;
  /** Resolves the client of an S3 request. */
  clientOf: ClientOfRequest;
  /** Ends S3 requests whose key or creator has lost the required right. */
  heldRights: HeldRights;
  /** From `loadInstallationKey`. */
  installationKey: KeyObject;
  /** From `createKeyRing`. */
  keyRing: KeyRing;
  /** Resolves the CNAMEs of custom domains. */
  domainResolver: DomainResolver;
  /** Stable across restarts and unique among the processes on one database. */
  replicaId: string;
  /** Whether other replicas use the metadata as well. Defaults to false. */
  sharesDatabase?: boolean;
  /** Delivers notifications to their receivers. */
  webhooks: WebhookSender;
  /** Null if custom domains get no certificates here because TLS ends before the platform. */
  certificateAuthority: CertificateAuthority | null;
  /** The limits of each workspace and its owner. */
  quotaLimits: QuotaLimits;
  /** Request limits of workspaces. */
  workspaceTraffic: WorkspaceTraffic;
  /** The data folder's disk, minus its reserve. */
  disk: DiskSpace;
  config: ObjectStoreConfig;
  log: Logger;
  metrics: Metrics;
  /** Shared by all replicas, because leases and grace periods are compared between them. */
  clock: Clock;
  random: (size: number) => Buffer;
  /** Base URL of the S3 plane in responses; known once its listener is up. */
  s3Endpoint: () => string;
  /** Base URL of the management API in responses. Defaults to the URL each caller used. */
  baseUrl?: () => string;
}

export interface ObjectStoreModule extends ServiceModule<ObjectStoreState> {
  /** Of what all replicas use. */
  readonly sharedReadiness: Readonly<Record<string, ReadinessCheck>>;
  /** The S3 plane, for a plain `node:http` server: `createListener({ ...s3 })`. */
  readonly s3: {
    handler(incoming: IncomingMessage, response: ServerResponse): void;
    configure(server: Server): void;
    onSlowBody(exchange: { request: IncomingMessage; response: ServerResponse }): void;
  };
  /** For the two listeners of custom domains. */
  readonly sites: Sites;
  /** For mounts in sandboxes. */
  readonly folders: BucketFolders & FolderForks;
  /**
   * Call after the listeners are closed. Waits for the background loops and the last commit, then closes everything.
   */
  close(): Promise<void>;
  /** Compares blobs with rows. Safe to run at any time. */
  fsck(): Promise<FsckReport>;
  /** Background work that one replica at a time does, and which one does it now. */
  workLeases(): Promise<readonly HeldLease[]>;
  /** Runs one round of every background loop now. */
  maintain(): Promise<void>;
}

export async function createObjectStoreModule(dependencies: ObjectStoreDependencies): Promise<ObjectStoreModule> {
  const { metadata, blobs, installationKey, clientOf, config, log, metrics, clock, s3Endpoint } = dependencies;
  await claimEngine(metadata, config);
  await dependencies.keyRing.check();
  const thread = new DigestThread(dependencies.quotaLimits.shareOf);
  const deps = createStoreDeps(dependencies, { kernels: new HashKernels(), thread });
  const services = createServices(deps);
  const customDomains = createCustomDomains({
    config: config.custom_domains,
    storeDomains: [...config.domains, ...config.website_domains, config.public_objects.domain].filter(Boolean),
    s3Endpoint,
    metadata,
    secrets: deps.secrets,
    installationKey,
    resolver: dependencies.domainResolver,
    authority: dependencies.certificateAuthority,
    clock,
    log,
  });
  const { directory } = customDomains;
  const publicOrigin = new PublicOrigin({ domain: config.public_objects.domain, baseUrl: dependencies.baseUrl });
  const publicHost = createPublicHost({ services, origin: publicOrigin, log });
  const oversight = createOversight(dependencies);
  const s3 = createS3Plane({ services, directory, oversight, clientOf, log, metrics });
  const { https_redirect: redirects, https_redirect_port: redirectPort } = config.custom_domains;
  const sites = createSites({
    directory,
    certificates: new TlsCertificates({ metadata, directory, secrets: deps.secrets, clock }),
    metadata,
    s3,
    redirectToPort: redirects ? redirectPort : null,
    clock,
    log,
  });
  const background = createBackground(dependencies, services, customDomains);
  const stop = new AbortController();
  let running: Promise<unknown> = Promise.resolve();

  return {
    registerRoutes: (app) =>
      registerManagementRoutes(app, {
        services,
        s3Endpoint,
        baseUrl: dependencies.baseUrl,
        publicOrigin,
        cursors: new Cursors(deriveKey(installationKey, 'management cursors')),
        provider: config.engine,
        domains: customDomains,
        customDomains: (bucket) => hostnamesServing(customDomains, bucket),
      }),
    handleHost: publicHost.handle,
    owners: {}, // any replica serves all of it
    allowsSlowBody: () => false,
    registerUpgrades: (router) => router.addFirst(publicHost.upgrades),
    s3: { handler: s3.handle, configure: s3.configure, onSlowBody: s3.onSlowBody },
    sites,
    folders: { ...createBucketFolders(services, log), ...createFolderForks(services) },
    start: async (signal) => {
      running = background.run(AbortSignal.any([signal, stop.signal]));
    },
    drain: async () => undefined,
    close: async () => {
      stop.abort();
      await running;
      await background.close();
      await thread.close();
      await metadata.close();
      await blobs.close();
    },
    ...readiness(dependencies),
    state: (workspaceUuid) => readState(services, workspaceUuid, s3Endpoint()),
    holdings: async (workspaceUuid) =>
      describeHoldings((await services.buckets.usage(workspaceUuid)).buckets, 'bucket', 'buckets'),
    quotaUsage: async (workspaceUuids) =>
      sumUsage(await Promise.all(workspaceUuids.map((workspaceUuid) => metadata.quotaUsage({ workspaceUuid })))),
    workLeases: () => metadata.workLeases({ nowMs: clock.nowMs() }),
    fsck: () => fsck(deps),
    maintain: () => background.round(stop.signal),
  };
}

/** The metadata is ready with the platform's database if replicas share it. */
function readiness({
  metadata,
  blobs,
  config,
  sharesDatabase = false,
}: ObjectStoreDependencies): Pick<ObjectStoreModule, 'readiness' | 'sharedReadiness'> {
  const engine = async (): Promise<string> => {
    await blobs.check();
    return 'ok';
  };
  const isEngineShared = config.engine !== 'embedded';
  return {
    readiness: async () => {
      if (!sharesDatabase) await metadata.check();
      return isEngineShared ? 'ok' : engine();
    },
    sharedReadiness: isEngineShared ? { object_engine: engine } : {},
  };
}

/** The store's background work: `run` repeats it until the signal, `round` does all of it once. */
interface Background {
  run(signal: AbortSignal): Promise<unknown>;
  round(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

function createBackground(
  { config, replicaId: holder, sharesDatabase = false, log, metrics, clock }: ObjectStoreDependencies,
  services: StoreServices,
  { worker: domains }: CustomDomains,
): Background {
  const { deps, notifications, configurations, lifecycle, forks, traffic } = services;
  const { metadata, blobs, secrets, hashing } = deps;
  const janitor = new Janitor(deps, services.credentials);
  const scrubber = new Scrubber({ metadata, blobs, kernel: hashing.kernels.crc, log, metrics, clock });
  const dispatcher = new NotificationDispatcher({ deps, configurations, notifications, metrics, holder });
  const rotation = new KeyRotation({ metadata, secrets, holder, log, clock });
  const usage = new UsageRecorder({ deps, traffic, holder });
  const { activeReads } = deps;
  const graceMs = config.trash_grace_seconds * 1_000;
  const fence = new ReadFence({ metadata, activeReads, holder, graceMs, clock, log });
  const leased = [lifecycle, forks, domains, dispatcher, usage, rotation];
  const { enabled: scrubs, cycle_days: days, bytes_per_second: bytesPerSecond } = config.scrub;
  return {
    run: (signal) =>
      Promise.all([
        janitor.run(signal),
        sharesDatabase ? fence.run(signal) : undefined,
        ...leased.map((work) => work.run(signal)),
        scrubs ? scrubber.run({ cycleMs: days * 86_400_000, bytesPerSecond }, signal) : undefined,
      ]),
    round: async (signal) => {
      await janitor.sweep();
      await janitor.round();
      for (const work of leased) await work.round(signal);
    },
    close: () => usage.close(),
  };
}

function createOversight(dependencies: ObjectStoreDependencies): S3Oversight {
  const { audit, metadata, heldRights: rights, log, metrics, clock } = dependencies;
  return { audit: new S3Audit({ audit, metadata, log, metrics, clock }), rights };
}

function createStoreDeps(dependencies: ObjectStoreDependencies, hashing: HashingDeps): StoreDeps {
  const { metadata, blobs, owners, rights, webhooks, keyRing, config, log, clock, random } = dependencies;
  const { quotaLimits, workspaceTraffic, disk } = dependencies;
  return {
    workspaceTraffic,
    disk,
    metadata,
    blobs,
    owners,
    rights,
    webhooks,
    quotaLimits,
    config,
    log,
    clock,
    random,
    hashing,
    secrets: keyRing,
    identifiers: createIdentifiers(random),
    activeReads: new ActiveReads(() => clock.nowMs()),
  };
}

async function hostnamesServing(
  { service }: CustomDomains,
  bucket: Pick<BucketRecord, 'id' | 'workspaceUuid'>,
): Promise<string[]> {
  const found = await service.list(bucket.workspaceUuid, bucket);
  return found.filter(({ blocked, state }) => !blocked && state.status === 'active').map(({ hostname }) => hostname);
}

async function readState(services: StoreServices, workspaceUuid: string, endpoint: string): Promise<ObjectStoreState> {
  const usage = await services.buckets.usage(workspaceUuid);
  return {
    enabled: true,
    reason: null,
    provisioned: await services.deps.metadata.isProvisioned({ workspaceUuid }),
    buckets: usage.buckets,
    objects: usage.objectCount,
    bytes: usage.sizeBytes,
    s3_endpoint: endpoint,
  };
}
