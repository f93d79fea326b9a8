import { storeErrors } from '../errors.ts';
import type { NewContent } from '../ports/metadata-store.ts';
import type { ObjectChecksum } from '../ports/records.ts';
import { ContentWriter } from './content-writer.ts';
import type { StoreServices } from './services.ts';

export interface WrittenObject {
  /** Sealed, but not committed. */
  content: NewContent;
  sizeBytes: number;
  /** Hexadecimal, which is the ETag of a single upload. */
  md5: string;
  checksum: ObjectChecksum;
}

/** Takes a chunk; a promise is the backpressure. */
export type ContentConsumer = (chunk: Buffer) => Promise<unknown> | undefined;

export interface ContentSource {
  sizeBytes: number;
  /** False for parts, which are blobs however small. */
  inline: boolean;
  /** Resolves when all bytes were consumed. */
  pump: (consume: ContentConsumer) => Promise<void>;
}

/** Takes in content of a known size that nobody made a promise about; what fails leaves nothing behind. */
export async function writeContent(
  services: Pick<StoreServices, 'contentParts' | 'parts'>,
  { sizeBytes, inline, pump }: ContentSource,
): Promise<WrittenObject> {
  const limitBytes = services.parts.config.limits.put_bytes;
  if (sizeBytes > limitBytes) {
    throw storeErrors.EntityTooLarge({ details: { proposedSize: sizeBytes, maxSizeAllowed: limitBytes } });
  }
  const names = new Set(['MD5', 'CRC64NVME'] as const);
  const writer = await ContentWriter.open(services.contentParts, names, sizeBytes, { inline });
  try {
    await pump((chunk) => writer.write(chunk));
    const digests = await writer.digest();
    const value = digests.CRC64NVME?.toString('base64') ?? '';
    const md5 = digests.MD5?.toString('hex') ?? '';
    return {
      content: await writer.seal(),
      sizeBytes,
      md5,
      checksum: { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value },
    };
  } catch (error) {
    await writer.abort();
    throw error;
  }
}
