import { defineQuotas } from '@svc/quotas';

/** The object store's quotas per workspace and per owner. */
export const storeQuotas = defineQuotas({
  stored_bytes: {
    title: 'Stored bytes',
    unit: 'bytes',
    description: 'Bytes of all object versions, parts of open uploads, and deleted data until it is removed',
    workspace: 'auto',
    owner: 'auto',
    auto: "80 % of the size of the data folder's file system; unlimited with an S3 engine",
  },
  stored_objects: {
    title: 'Stored objects',
    unit: 'count',
    description: 'Object versions, delete markers and open uploads',
    workspace: 50_000_000,
    owner: 100_000_000,
  },
  buckets: {
    title: 'Buckets',
    unit: 'count',
    description: 'Buckets, including deleted buckets that can be restored',
    workspace: 'auto',
    owner: 'auto',
    auto: 'object_store.limits.buckets_per_workspace, or ten times that per owner',
  },
});
