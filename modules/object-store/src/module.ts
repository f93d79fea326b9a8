import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { describeHoldings, type ReadinessCheck, type ServiceModule } from '@svc/http';
import { sumUsage } from '@svc/quotas';
import { claimEngine } from './adapters/engines/assembly.ts';
import { HashKernels } from './domain/checksums/hasher.ts';
import { DigestThread } from './domain/checksums/digest-thread.ts';
import { createCustomDomains, type CustomDomains } from './domain/custom-domains/create-custom-domains.ts';
import { fsck, type FsckReport } from './domain/fsck.ts';
import { createServices, type StoreServices } from './domain/services.ts';
import { registerManagementRoutes } from './routes/index.ts';
import { createBucketFolders, type BucketFolders } from './routes/folders/bucket-folders.ts';
import { createFolderForks, type FolderForks } from './routes/folders/folder-forks.ts';
import { createPublicHost } from './routes/public-host.ts';
import { PublicOrigin } from './routes/public-origin.ts';
import { Cursors } from './routes/objects/cursor.ts';
import type { BucketRecord } from './domain/ports/records.ts';
import type { HeldLease } from './domain/ports/work-leases.ts';
import { createS3Plane } from './s3/index.ts';
import { deriveKey } from './domain/secrets/derive-key.ts';
import type { ObjectStoreState } from './state.ts';
import { createSites, type Sites } from './routes/sites/index.ts';
import { TlsCertificates } from './routes/sites/tls-certificates.ts';
import { createBackground } from './assembly/background.ts';
import type { ObjectStoreDependencies } from './assembly/dependencies.ts';
import { createOversight, createStoreDeps } from './assembly/store-deps.ts';

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
  await claimEngine(metadata, config, blobs);
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
      services.strangers.stop();
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
