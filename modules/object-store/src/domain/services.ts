import { UploadAdmission } from './admission.ts';
import { BucketConfigurations } from './bucket-configurations.ts';
import { createBucketService, type BucketService } from './bucket-service.ts';
import type { ContentParts } from './content-writer.ts';
import { createCopyService, type CopyService } from './copy-service.ts';
import { CredentialCache } from './credential-cache.ts';
import { LifecycleExecutor } from './lifecycle/executor.ts';
import { createKeyService, type KeyService } from './key-service.ts';
import { createEncryptionService, type EncryptionService } from './encryption-service.ts';
import { createMultipartService, type MultipartService } from './multipart-service.ts';
import { createObjectService, type ObjectService } from './object-service.ts';
import { NotificationService } from './notifications/notification-service.ts';
import type { StoreParts } from './store-parts.ts';
import { TrafficCounters } from './usage/traffic-counters.ts';

/** The services that both planes use. */
export interface StoreServices {
  readonly parts: StoreParts;
  readonly contentParts: ContentParts;
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

export function createServices(parts: StoreParts): StoreServices {
  const { metadata, secrets, rights, now, blobs, hashing, config, random, disk } = parts;
  const turnOfBody = (workspaceUuid: string) => parts.workspaceTraffic.turnOfBody(workspaceUuid);
  const configurations = new BucketConfigurations(metadata, now);
  const credentials = new CredentialCache({ metadata, secrets, rights, now });
  const inlineMaxBytes = config.inline_max_bytes;
  const contentParts: ContentParts = { blobs, hashing, inlineMaxBytes, random, disk, turnOfBody };
  const objects = createObjectService(parts, configurations);
  const encryption = createEncryptionService(parts, configurations);
  const multipart = createMultipartService(parts, configurations);
  return {
    parts,
    contentParts,
    buckets: createBucketService(parts),
    configurations,
    encryption,
    objects,
    multipart,
    lifecycle: new LifecycleExecutor({ parts, configurations, objects, multipart }),
    copies: createCopyService({ parts, configurations, contentParts, objects, multipart, encryption }),
    keys: createKeyService(parts, credentials),
    notifications: new NotificationService(parts, configurations),
    credentials,
    uploadsInFlight: new UploadAdmission(config.limits.uploads_in_flight, parts.workspaceTraffic),
    traffic: new TrafficCounters(),
  };
}
