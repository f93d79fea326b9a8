import { Admission } from './admission.ts';
import { BucketConfigurations } from './bucket-configurations.ts';
import { createBucketService, type BucketService } from './bucket-service.ts';
import type { ContentParts } from './content-writer.ts';
import { CredentialCache } from './credential-cache.ts';
import { createKeyService, type KeyService } from './key-service.ts';
import { createEncryptionService, type EncryptionService } from './encryption-service.ts';
import { createMultipartService, type MultipartService } from './multipart-service.ts';
import { createObjectService, type ObjectService } from './object-service.ts';
import type { StoreParts } from './store-parts.ts';

/** What both planes work with. */
export interface StoreServices {
  readonly parts: StoreParts;
  readonly contentParts: ContentParts;
  readonly buckets: BucketService;
  readonly configurations: BucketConfigurations;
  readonly objects: ObjectService;
  readonly multipart: MultipartService;
  readonly keys: KeyService;
  readonly encryption: EncryptionService;
  readonly credentials: CredentialCache;
  readonly uploadsInFlight: Admission;
}

export function createServices(parts: StoreParts): StoreServices {
  const { metadata, secrets, now, blobs, hashing, config, random } = parts;
  const configurations = new BucketConfigurations(metadata, now);
  const credentials = new CredentialCache({ metadata, secrets, now });
  return {
    parts,
    contentParts: { blobs, hashing, inlineMaxBytes: config.inline_max_bytes, random },
    buckets: createBucketService(parts),
    configurations,
    encryption: createEncryptionService(parts, configurations),
    objects: createObjectService(parts),
    multipart: createMultipartService(parts),
    keys: createKeyService(parts, credentials),
    credentials,
    uploadsInFlight: new Admission(config.limits.uploads_in_flight),
  };
}
