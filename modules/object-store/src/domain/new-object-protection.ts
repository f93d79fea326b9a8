import type { ContentKey } from './encryption/content-key.ts';
import type { BucketRecord, ObjectAttributes } from './ports/records.ts';
import { computeDefaultRetention, parseObjectLockDocument } from './object-lock.ts';
import type { StoreServices } from './services.ts';

export interface NewObjectProtection {
  /** Null to store it unencrypted. */
  key: ContentKey | null;
  /** Stored with the object. */
  attributes: Pick<ObjectAttributes, 'encryption' | 'retention'>;
}

/** The bucket's default protection for a new object: encryption and retention. */
export async function defaultProtection(services: StoreServices, bucket: BucketRecord): Promise<NewObjectProtection> {
  const sealed = await services.encryption.forWrite(bucket, {});
  const lock = (await services.configurations.of(bucket)).parsed('object-lock', parseObjectLockDocument);
  const retention = lock === null ? null : computeDefaultRetention(lock, services.deps.clock.nowMs());
  return {
    key: sealed?.key ?? null,
    attributes: {
      ...(sealed === null ? {} : { encryption: sealed.encryption }),
      ...(retention === null ? {} : { retention }),
    },
  };
}
