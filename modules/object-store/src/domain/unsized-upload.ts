import { storeErrors } from '../errors.ts';
import type { ContentKey } from './encryption/content-key.ts';
import type { WriteConditions } from './ports/records.ts';
import type { StoredVersion } from './ports/records.ts';
import type { EventOrigin } from './ports/notifications.ts';
import type { BucketRecord, ObjectAttributes } from './ports/records.ts';
import type { StoreServices } from './services.ts';
import { createMemorySource, type ContentSource } from './content/content-source.ts';
import type { PendingContent } from './content/pending-content.ts';

export interface UnsizedObject {
  bucket: BucketRecord;
  key: string;
  attributes: ObjectAttributes;
  /** The key of `attributes.encryption`. Null to store it unencrypted. */
  contentKey: ContentKey | null;
  /** Origin of the upload. */
  origin: EventOrigin;
  maxBytes: number;
  conditions?: WriteConditions;
}

/** Maximum held in memory, and the part size of larger objects. */
const PART_BYTES = 8 * 1024 * 1024;

/**
 * An upload of unknown size. Up to one part it is written like a sized upload; beyond that it becomes a multipart
 * upload, so that rows account for every byte on disk. Nothing is visible before `commit`.
 */
export class UnsizedUpload {
  readonly #services: StoreServices;
  readonly #object: UnsizedObject;
  #gathered: Buffer[] = [];
  #gatheredBytes = 0;
  #totalBytes = 0;
  #uploadId: string | null = null;
  #parts: { partNumber: number; etag: string }[] = [];
  #whole: { content: PendingContent; atMs: number } | null = null;

  constructor(services: StoreServices, object: UnsizedObject) {
    this.#services = services;
    this.#object = object;
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  /** Takes ownership of the chunk. */
  async write(chunk: Buffer): Promise<void> {
    this.#totalBytes += chunk.length;
    if (this.#totalBytes > this.#object.maxBytes) {
      throw storeErrors.EntityTooLarge({ details: { maxSizeAllowed: this.#object.maxBytes } });
    }
    this.#gathered.push(chunk);
    this.#gatheredBytes += chunk.length;
    if (this.#gatheredBytes > PART_BYTES) await this.#writePart();
  }

  /** Ends the content. All bytes are on stable storage when it resolves. */
  async end(): Promise<void> {
    if (this.#uploadId !== null) {
      if (this.#gatheredBytes > 0) await this.#writePart();
      return;
    }
    const { bucket, attributes, contentKey } = this.#object;
    const content = await this.#services.content.store({
      source: this.#takeGathered(),
      bucket,
      key: contentKey,
      kind: 'object',
      contentType: attributes.contentType,
    });
    this.#whole = { content, atMs: this.#services.deps.clock.nowMs() };
  }

  /** Makes the object visible. */
  async commit(): Promise<StoredVersion> {
    const { bucket, key, attributes, conditions = {}, origin } = this.#object;
    if (this.#whole === null) {
      const uploadId = this.#uploadId ?? '';
      const stored = await this.#services.multipart.complete({
        bucket,
        key,
        uploadId,
        parts: this.#parts,
        conditions,
        origin,
      });
      this.#uploadId = null;
      return stored;
    }
    const { content, atMs } = this.#whole;
    const { clock, config } = this.#services.deps;
    // No row refers to the bytes yet. Give up well before the sweep may remove them.
    if (clock.nowMs() - atMs > (config.sweep_grace_seconds * 1_000) / 2) throw storeErrors.RequestTimeout();
    return await this.#services.objects.put({ bucket, key, content, attributes, conditions, origin });
  }

  /** Removes everything that was not committed. */
  async discard(): Promise<void> {
    this.#gathered = [];
    await this.#whole?.content.discard();
    const uploadId = this.#uploadId;
    this.#uploadId = null;
    const { bucket, key } = this.#object;
    if (uploadId !== null) await this.#services.multipart.abort({ bucket, key, uploadId });
  }

  async #writePart(): Promise<void> {
    const { bucket, key, attributes, contentKey, origin } = this.#object;
    const { multipart, deps } = this.#services;
    this.#uploadId ??= await multipart.create({
      bucket,
      key,
      initiator: origin.principal,
      attributes,
      checksumAlgorithm: 'CRC64NVME',
      checksumType: 'FULL_OBJECT',
    });
    const partNumber = this.#parts.length + 1;
    if (partNumber > deps.config.limits.parts) throw storeErrors.EntityTooLarge();
    const source = this.#takeGathered();
    await using content = await this.#services.content.store({ source, bucket, key: contentKey, kind: 'part' });
    await multipart.putPart({ bucket, key, uploadId: this.#uploadId, partNumber, content });
    this.#parts.push({ partNumber, etag: content.etag });
  }

  #takeGathered(): ContentSource {
    const source = createMemorySource(this.#gathered);
    this.#gathered = [];
    this.#gatheredBytes = 0;
    return source;
  }
}
