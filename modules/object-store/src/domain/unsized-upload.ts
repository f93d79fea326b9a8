import { storeErrors } from '../errors.ts';
import type { ContentKey } from './encryption/content-key.ts';
import type { WriteConditions } from './ports/records.ts';
import type { StoredVersion } from './ports/records.ts';
import type { EventOrigin } from './ports/notifications.ts';
import type { BucketRecord, ObjectAttributes } from './ports/records.ts';
import { discardRefused } from './object-service.ts';
import type { StoreServices } from './services.ts';
import { writeContent, type WrittenObject } from './write-content.ts';

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
  #whole: { written: WrittenObject; atMs: number } | null = null;

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
    const written = await writeContent(this.#services, this.#takeGathered(true));
    this.#whole = { written, atMs: this.#services.deps.now() };
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
    const { written, atMs } = this.#whole;
    const { now, config } = this.#services.deps;
    // No row refers to the bytes yet. Give up well before the sweep may remove them.
    if (now() - atMs > (config.sweep_grace_seconds * 1_000) / 2) throw storeErrors.RequestTimeout();
    this.#whole = null;
    const { content, sizeBytes, etag, checksum } = written;
    return await this.#services.objects.put({
      bucket,
      key,
      content,
      sizeBytes,
      etag,
      attributes,
      checksum,
      conditions,
      origin,
    });
  }

  /** Removes everything that was not committed. */
  async discard(): Promise<void> {
    this.#gathered = [];
    const whole = this.#whole;
    this.#whole = null;
    const refusal = storeErrors.IncompleteBody();
    if (whole !== null) await discardRefused(this.#services.deps, whole.written.content, refusal);
    const uploadId = this.#uploadId;
    this.#uploadId = null;
    const { bucket, key } = this.#object;
    if (uploadId !== null) await this.#services.multipart.abort({ bucket, key, uploadId });
  }

  async #writePart(): Promise<void> {
    const { bucket, key, attributes, origin } = this.#object;
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
    const { content, sizeBytes, etag, checksum } = await writeContent(this.#services, this.#takeGathered(false));
    const name = { bucket, key, uploadId: this.#uploadId };
    await multipart.putPart({ ...name, partNumber, content, sizeBytes, etag, checksum });
    this.#parts.push({ partNumber, etag });
  }

  #takeGathered(inline: boolean): Parameters<typeof writeContent>[1] {
    const chunks = this.#gathered;
    const sizeBytes = this.#gatheredBytes;
    this.#gathered = [];
    this.#gatheredBytes = 0;
    const pump = async (consume: (chunk: Buffer) => Promise<unknown> | undefined): Promise<void> => {
      for (const chunk of chunks) await consume(chunk);
    };
    return { sizeBytes, bucket: this.#object.bucket, key: this.#object.contentKey, inline, pump };
  }
}
