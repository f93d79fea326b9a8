import type { KeyObject } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AuditLog, ClientOfRequest, HeldRights, HttpApp, UpgradeRouter, WorkspaceTraffic } from '@svc/http';
import { type QuotaLimits, sumUsage, type Usage } from '@svc/quotas';
import type { DiskSpace } from '@svc/runtime';
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
import { KeyRotation } from './domain/key-rotation/key-rotation.ts';
import { Scrubber } from './domain/scrub/scrubber.ts';
import { createServices, type StoreServices } from './domain/services.ts';
import type { StoreDeps } from './domain/store-deps.ts';
import { UsageRecorder } from './domain/usage/usage-recorder.ts';
import { registerManagementRoutes } from './routes/index.ts';
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
import { createS3Plane } from './s3/index.ts';
import { S3Audit } from './s3/s3-audit.ts';
import type { S3Oversight } from './s3/s3-context.ts';
import { deriveKey } from './domain/secrets/derive-key.ts';
import type { KeyRing } from './domain/secrets/key-ring.ts';
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
  /** Milliseconds since the epoch. */
  now: () => number;
  random: (size: number) => Buffer;
  /** Base URL of the S3 plane in responses; known once its listener is up. */
  s3Endpoint: () => string;
  /** Base URL of the management API in responses. Defaults to the URL each caller used. */
  baseUrl?: () => string;
}

export interface ObjectStoreStatus {
  provisioned: boolean;
  buckets: number;
  objects: number;
  bytes: number;
  s3_endpoint: string;
}

export interface ObjectStoreModule {
  /** Registers the management API of the contract. */
  registerRoutes(app: HttpApp): Promise<void>;
  /** Handles requests for the hosts of public objects and returns whether it did. Call it before the API's router. */
  handlePublicHost(this: void, request: IncomingMessage, response: ServerResponse): boolean;
  registerUpgrades(router: UpgradeRouter): void;
  /** The S3 plane, for a plain `node:http` server: `createListener({ ...s3 })`. */
  readonly s3: {
    handler(incoming: IncomingMessage, response: ServerResponse): void;
    configure(server: Server): void;
    onSlowBody(exchange: { request: IncomingMessage; response: ServerResponse }): void;
  };
  /** For the two listeners of custom domains. */
  readonly sites: Sites;
  /** Starts the background loops, which stop when the signal aborts. */
  start(signal: AbortSignal): void;
  /**
   * Call after the listeners are closed. Waits for the background loops and the last commit, then closes everything.
   */
  close(): Promise<void>;
  readiness(): Promise<string>;
  /** What a workspace stores here, for the overview. */
  status(workspaceUuid: string): Promise<ObjectStoreStatus>;
  /** The combined usage of these workspaces, by quota name. */
  quotaUsage(workspaceUuids: readonly string[]): Promise<Usage>;
  /** Compares blobs with rows. Safe to run at any time. */
  fsck(): Promise<FsckReport>;
  /** Runs one round of every background loop now. */
  maintain(): Promise<void>;
}

export async function createObjectStoreModule(dependencies: ObjectStoreDependencies): Promise<ObjectStoreModule> {
  const { metadata, blobs, installationKey, clientOf, config, log, metrics, now, s3Endpoint } = dependencies;
  await claimEngine(metadata, config);
  await dependencies.keyRing.check();
  const thread = new DigestThread(dependencies.quotaLimits.shareOf);
  const deps = partsOf(dependencies, { kernels: new HashKernels(), thread });
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
    now,
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
    certificates: new TlsCertificates({ metadata, directory, secrets: deps.secrets, now }),
    metadata,
    s3,
    redirectToPort: redirects ? redirectPort : null,
    now,
    log,
  });
  const janitor = new Janitor(deps, services.credentials);
  const scrubber = new Scrubber({ metadata, blobs, kernel: deps.hashing.kernels.crc, log, metrics, now });
  const { notifications, configurations } = services;
  const holder = dependencies.replicaId;
  const dispatcher = new NotificationDispatcher({ deps, configurations, notifications, metrics, holder });
  const rotation = new KeyRotation({ metadata, secrets: deps.secrets, holder, log, now });
  const usage = new UsageRecorder({ deps, traffic: services.traffic, holder });
  const stop = new AbortController();
  let background: Promise<unknown> = Promise.resolve();

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
    handlePublicHost: publicHost.handle,
    registerUpgrades: (router) => router.addFirst(publicHost.upgrades),
    s3: { handler: s3.handle, configure: s3.configure, onSlowBody: s3.onSlowBody },
    sites,
    start: (signal) => {
      const ends = AbortSignal.any([signal, stop.signal]);
      const { enabled, cycle_days: days, bytes_per_second: bytesPerSecond } = config.scrub;
      const scrubbing = enabled ? scrubber.run({ cycleMs: days * 86_400_000, bytesPerSecond }, ends) : undefined;
      background = Promise.all([
        janitor.run(ends),
        services.lifecycle.run(ends),
        customDomains.worker.run(ends),
        dispatcher.run(ends),
        usage.run(ends),
        rotation.run(ends),
        scrubbing,
      ]);
    },
    close: async () => {
      stop.abort();
      await background;
      await usage.close();
      await thread.close();
      await metadata.close();
      await blobs.close();
    },
    readiness: async () => {
      await metadata.check();
      await blobs.check();
      return 'ok';
    },
    status: (workspaceUuid) => statusOf(services, workspaceUuid, s3Endpoint()),
    quotaUsage: async (workspaceUuids) =>
      sumUsage(await Promise.all(workspaceUuids.map((workspaceUuid) => metadata.quotaUsage({ workspaceUuid })))),
    fsck: () => fsck(deps),
    maintain: async () => {
      await janitor.sweep();
      await janitor.round();
      await services.lifecycle.round(stop.signal);
      await customDomains.worker.round(stop.signal);
      await dispatcher.round(stop.signal);
      await usage.round(stop.signal);
      await rotation.round(stop.signal);
    },
  };
}

function createOversight(dependencies: ObjectStoreDependencies): S3Oversight {
  const { audit, metadata, heldRights: rights, log, metrics, now } = dependencies;
  return { audit: new S3Audit({ audit, metadata, log, metrics, now }), rights };
}

function partsOf(dependencies: ObjectStoreDependencies, hashing: HashingDeps): StoreDeps {
  const { metadata, blobs, owners, rights, webhooks, keyRing, config, log, now, random } = dependencies;
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
    now,
    random,
    hashing,
    secrets: keyRing,
    identifiers: createIdentifiers(random),
    activeReads: new ActiveReads(),
  };
}

async function hostnamesServing(
  { service }: CustomDomains,
  bucket: Pick<BucketRecord, 'id' | 'workspaceUuid'>,
): Promise<string[]> {
  const found = await service.list(bucket.workspaceUuid, bucket);
  return found.filter(({ blocked, state }) => !blocked && state.status === 'active').map(({ hostname }) => hostname);
}

async function statusOf(services: StoreServices, workspaceUuid: string, endpoint: string): Promise<ObjectStoreStatus> {
  const usage = await services.buckets.usage(workspaceUuid);
  return {
    provisioned: await services.deps.metadata.isProvisioned({ workspaceUuid }),
    buckets: usage.buckets,
    objects: usage.objectCount,
    bytes: usage.sizeBytes,
    s3_endpoint: endpoint,
  };
}
