import { UploadAdmission } from './admission.ts';
import { BucketConfigurations } from './bucket-configurations.ts';
import { createBucketService, type BucketService } from './bucket-service.ts';
import type { ContentDeps } from './content-writer.ts';
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
  readonly contentDeps: ContentDeps;
  readonly buckets: BucketService;
  readonly configurations: BucketConfigurations;
  readonly objects: ObjectService;
  readonly multipart: MultipartService;
  readonly copies: CopyService;
  readonly lifecycle: LifecycleExecutor;
  readonly keys: KeyService;
  readonly encryption: EncryptionService;
  readonly notifications: NotificationService;
  readonly credentials: CredentialCache;
  readonly uploadsInFlight: UploadAdmission;
  readonly traffic: TrafficCounters;
}

export function createServices(deps: StoreDeps): StoreServices {
  const { metadata, secrets, rights, now, blobs, hashing, config, random, disk } = deps;
  const turnOfBody = (workspaceUuid: string) => deps.workspaceTraffic.turnOfBody(workspaceUuid);
  const configurations = new BucketConfigurations(metadata, now);
  const credentials = new CredentialCache({ metadata, secrets, rights, now });
  const inlineMaxBytes = config.inline_max_bytes;
  const contentDeps: ContentDeps = { blobs, hashing, inlineMaxBytes, random, disk, turnOfBody };
  const objects = createObjectService(deps, configurations);
  const encryption = createEncryptionService(deps, configurations);
  const multipart = createMultipartService(deps, configurations);
  return {
    deps,
    contentDeps,
    buckets: createBucketService(deps),
    configurations,
    encryption,
    objects,
    multipart,
    lifecycle: new LifecycleExecutor({ deps, configurations, objects, multipart }),
    copies: createCopyService({ deps, configurations, contentDeps, objects, multipart, encryption }),
    keys: createKeyService(deps, credentials),
    notifications: new NotificationService(deps, configurations),
    credentials,
    uploadsInFlight: new UploadAdmission(config.limits.uploads_in_flight, deps.workspaceTraffic),
    traffic: new TrafficCounters(),
  };
}
