export { storeQuotas } from './quotas.ts';
export { createAcmeAuthority, type AcmeAuthorityOptions } from './adapters/acme/acme-authority.ts';
export { objectStoreConfigSchema, type ObjectStoreConfig } from './config.ts';
export { CrcKernel } from './domain/checksums/crc-kernel.ts';
export { copyBlobs, type CopyReport } from './domain/backup/copy-blobs.ts';
export { normalizeHostname } from './domain/custom-domains/hostname.ts';
export { pruneBlobs } from './domain/backup/prune-blobs.ts';
export { fsck, type FsckOptions, type FsckReport } from './domain/fsck.ts';
export { Scrubber, type ScrubFinding, type ScrubReport } from './domain/scrub/scrubber.ts';
export { openBlobStore, setEngine, type BlobStoreDeps as BlobStoreParts } from './adapters/engines/assembly.ts';
export { storeErrors } from './errors.ts';
export { openPostgresMetadataStore, type PostgresMetadataOptions } from './store/postgres/store.ts';
export { openSqliteSnapshot, snapshotSqlite, type SqliteSnapshot } from './store/sqlite/snapshot.ts';
export { openSqliteMetadataStore, type SqliteMetadataOptions } from './store/sqlite/store.ts';
export { createObjectStoreModule, type ObjectStoreModule } from './module.ts';
export type { ObjectStoreDependencies } from './assembly/dependencies.ts';
export type { BlobStore } from './domain/ports/blob-store.ts';
export type { CertificateAuthority, DomainResolver } from './domain/ports/custom-domains.ts';
export type { MakerRights } from './domain/ports/maker-rights.ts';
export type { MetadataStore } from './domain/ports/metadata-store.ts';
export type { HeldLease } from './domain/ports/work-leases.ts';
export type { OwnerDirectory } from './domain/ports/owner-directory.ts';
export { IMPLEMENTED, NOT_IMPLEMENTED } from './s3/operations/index.ts';
export { readKeyUsage, type KeyUsage } from './domain/key-rotation/key-usage.ts';
export { KeyRotation, type RotationReport } from './domain/key-rotation/key-rotation.ts';
export { rewrapKeys } from './domain/key-rotation/rewrap-keys.ts';
export { KeyRing } from './domain/secrets/key-ring.ts';
export { loadInstallationKey, rewrapInstallationKey } from './adapters/installation-key.ts';
export { SecretBox } from './domain/secrets/secret-box.ts';
export {
  createDisabledObjectStoreModule,
  objectStoreStateSchema,
  type DisabledObjectStoreModule,
  type ObjectStoreState,
} from './state.ts';
