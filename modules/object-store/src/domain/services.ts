import { HeldRights } from '@svc/access';
import { UploadAdmission } from './admission.ts';
import { BucketForks } from './bucket-forks.ts';
import { BucketConfigurations } from './bucket-configurations.ts';
import { createBucketService, type BucketService } from './bucket-service.ts';
import { createContentStore, type ContentStore } from './content/content-store.ts';
import { createCopyService, type CopyService } from './copy-service.ts';
import { CredentialCache } from './credential-cache.ts';
import { LifecycleExecutor } from './lifecycle/executor.ts';
import { createKeyService, type KeyService } from './key-service.ts';
import { createEncryptionService, type EncryptionService } from './encryption-service.ts';
import { createMultipartService, type MultipartService } from './multipart-service.ts';
import { createObjectService, type ObjectService } from './object-service.ts';
import { NotificationService } from './notifications/notification-service.ts';
import type { StoreDeps } from './store-deps.ts';
import { TrafficCounters } from './usage/traffic-counters.ts';

/** The services that both planes use. */
export interface StoreServices {
  readonly deps: StoreDeps;
  readonly content: ContentStore;
  readonly buckets: BucketService;
  readonly forks: BucketForks;
  readonly configurations: BucketConfigurations;
  readonly objects: ObjectService;
  readonly multipart: MultipartService;
  readonly copies: CopyService;
  readonly lifecycle: LifecycleExecutor;
  readonly keys: KeyService;
  readonly encryption: EncryptionService;
  readonly notifications: NotificationService;
  readonly credentials: CredentialCache;
  /** Transfers of anonymous clients and of other workspaces (`watchStranger`), apart from the rights of credentials. */
  readonly strangers: HeldRights;
  readonly uploadsInFlight: UploadAdmission;
  readonly traffic: TrafficCounters;
}

export function createServices(deps: StoreDeps): StoreServices {
  const { metadata, secrets, rights, clock, config } = deps;
  const configurations = new BucketConfigurations(metadata, clock);
  const credentials = new CredentialCache({ metadata, secrets, rights, clock });
  const uploadsInFlight = new UploadAdmission(config.limits.uploads_in_flight, deps.workspaceTraffic);
  const content = createContentStore({
    ...deps,
    configurations,
    admission: uploadsInFlight,
    maxBytes: config.limits.put_bytes,
    inlineMaxBytes: config.inline_max_bytes,
    turnOfBody: (workspaceUuid) => deps.workspaceTraffic.turnOfBody(workspaceUuid),
  });
  const objects = createObjectService(deps, configurations);
  const encryption = createEncryptionService(deps, configurations);
  const multipart = createMultipartService(deps, configurations);
  const buckets = createBucketService(deps);
  return {
    deps,
    content,
    buckets,
    forks: new BucketForks(deps, buckets),
    configurations,
    encryption,
    objects,
    multipart,
    lifecycle: new LifecycleExecutor({ deps, configurations, objects, multipart }),
    copies: createCopyService({ deps, configurations, content, objects, multipart, encryption }),
    keys: createKeyService(deps, credentials),
    notifications: new NotificationService(deps, configurations),
    credentials,
    strangers: createStrangers(deps),
    uploadsInFlight,
    traffic: new TrafficCounters(),
  };
}

/** However many clients read slowly, their checks take little of the database; then they come less often. */
const STRANGERS_AT_ONCE = 2;

function createStrangers({ clock, log }: StoreDeps): HeldRights {
  return new HeldRights({
    nowMs: () => clock.nowMs(),
    setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
    onError: (err) => log.warn({ err }, 'an open public transfer could not be checked; retrying'),
    checksAtOnce: STRANGERS_AT_ONCE,
  });
}
