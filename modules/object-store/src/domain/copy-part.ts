import type { ContentKey } from './encryption/content-key.ts';
import type { ReadRange } from './ports/blob-store.ts';
import type { SourceVersion } from './ports/copy-commands.ts';
import type { FoundObject } from './ports/objects.ts';
import type { ObjectChecksum, UploadRecord } from './ports/records.ts';
import type { ContentStore } from './content/content-store.ts';
import { createStoredSource, digestStored, type StoredRange } from './content/stored-source.ts';
import type { MultipartService, UploadName } from './multipart-service.ts';
import type { StoreDeps } from './store-deps.ts';

export interface PartCopy extends UploadName, StoredRange {
  upload: UploadRecord;
  uploadKey: ContentKey | null;
  partNumber: number;
}

export interface CopiedPart {
  etag: string;
  checksum: ObjectChecksum;
}

interface PartCopyDeps {
  deps: StoreDeps;
  content: ContentStore;
  multipart: MultipartService;
}

/** A range of one stored blob. */
interface Slice {
  blobId: string;
  blobOffset: number;
  /** Null unless the range is a whole object or part. */
  etag: string | null;
  checksum: ObjectChecksum | null;
}

/**
 * Copies a part. A range of a single stored blob becomes a reference to it; its bytes are read only if a digest is
 * missing. Content that spans several blobs, is stored inline or is encrypted is written as a new blob.
 */
export async function copyPart(services: PartCopyDeps, copy: PartCopy): Promise<CopiedPart> {
  const clear = copy.sourceKey === null && copy.uploadKey === null;
  const slice = clear ? await findSlice(services.deps, copy.source, copy.range) : null;
  return slice === null ? await writePart(services, copy) : await referPart(services, copy, slice);
}

async function findSlice({ metadata }: StoreDeps, source: FoundObject, range: ReadRange): Promise<Slice | null> {
  const { location, sizeBytes, etag, checksum } = source.version;
  if (range.endExclusive === range.start) return null;
  if (location.kind === 'blob') {
    const whole = range.start === 0 && range.endExclusive === sizeBytes;
    const known = whole ? { etag, checksum } : { etag: null, checksum: null };
    return { blobId: location.blobId, blobOffset: range.start, ...known };
  }
  if (location.kind !== 'manifest') return null;
  const { manifestId } = location;
  const [only, ...others] = await metadata.manifestParts({ manifestId, ...range, limit: 2 });
  if (only === undefined || others.length > 0) return null;
  const { blobId, startOffset, partNumber } = only;
  const whole = startOffset === range.start && startOffset + only.sizeBytes === range.endExclusive;
  const part = whole ? await metadata.findManifestPart({ manifestId, partNumber }) : null;
  return {
    blobId,
    blobOffset: only.blobOffset + range.start - startOffset,
    etag: part?.etag ?? null,
    checksum: part?.checksum ?? null,
  };
}

async function referPart({ deps, multipart }: PartCopyDeps, copy: PartCopy, slice: Slice): Promise<CopiedPart> {
  const { source, range, upload, bucket, key, uploadId, partNumber } = copy;
  const { blobId, blobOffset, etag, checksum } = slice;
  const sizeBytes = range.endExclusive - range.start;
  const algorithm = upload.checksumAlgorithm ?? 'CRC64NVME';
  const known = etag !== null && checksum?.algorithm === algorithm ? { etag, checksum } : null;
  const copied = known ?? (await digestPart(deps, copy));
  const reference = { blobId, blobOffset, source: identityOf(source) };
  await multipart.putPartReference({ bucket, key, uploadId, partNumber, sizeBytes, ...copied, ...reference });
  return copied;
}

async function digestPart(deps: StoreDeps, copy: PartCopy): Promise<CopiedPart> {
  const algorithm = copy.upload.checksumAlgorithm ?? 'CRC64NVME';
  const digests = await digestStored(
    deps,
    { ...copy, workspaceUuid: copy.bucket.workspaceUuid },
    new Set(['MD5', algorithm] as const),
  );
  return {
    etag: digests.MD5?.toString('hex') ?? '',
    checksum: { algorithm, type: 'FULL_OBJECT', value: digests[algorithm]?.toString('base64') ?? '' },
  };
}

async function writePart(services: PartCopyDeps, copy: PartCopy): Promise<CopiedPart> {
  const { upload, uploadKey, bucket, key, uploadId, partNumber } = copy;
  await using content = await services.content.store({
    source: createStoredSource(services.deps, copy),
    bucket,
    key: uploadKey,
    kind: 'part',
    algorithm: upload.checksumAlgorithm ?? 'CRC64NVME',
  });
  await services.multipart.putPart({ bucket, key, uploadId, partNumber, content });
  return { etag: content.etag, checksum: content.checksum };
}

/** Identifies the source, to verify on commit that it has not changed. */
export function identityOf({ version }: FoundObject): SourceVersion {
  const { bucketId, key, versionId, etag, sizeBytes, modifiedAtMs } = version;
  return { bucketId, key, versionId, etag, sizeBytes, modifiedAtMs };
}
