import type { ChecksumAlgorithm } from '../../domain/checksums/algorithms.ts';
import { ContentWriter, type ContentOptions } from '../../domain/content-writer.ts';
import { assertSettings } from '../../domain/write-rules.ts';
import { storeErrors } from '../../errors.ts';
import type { NewContent } from '../../domain/ports/objects.ts';
import type { ObjectChecksum } from '../../domain/ports/records.ts';
import type { BucketContext } from '../s3-context.ts';
import { assertDigests, digestsFor, readBodyPlan } from './body-plan.ts';
import type { ContentConsumer } from '../../domain/write-content.ts';
import { receiveBody } from './receive-body.ts';

export interface ReceivedContent {
  /** Sealed and verified, but not committed. */
  content: NewContent;
  sizeBytes: number;
  /** Hexadecimal: the MD5 of the content, or a substitute if encryption must hide it. */
  etag: string;
  checksum: ObjectChecksum;
}

export interface ReceiveOptions extends ContentOptions {
  /** Checksum to store with the object. Defaults to the client's algorithm, else CRC64NVME. */
  keep?: ChecksumAlgorithm | null;
}

const NO_TRAILER: ReadonlyMap<string, string> = new Map();

/** Receives an upload. Verifies the declared digests before sealing; a failed upload leaves nothing behind. */
export async function receiveContent(context: BucketContext, options: ReceiveOptions): Promise<ReceivedContent> {
  const { request, payload, seed, services, bucket } = context;
  const { deps } = services;
  const plan = readBodyPlan(request, payload);
  assertSize(plan.sizeBytes, deps.config.limits.put_bytes);
  await assertSettings(services.configurations, context.bucket, { sizeBytes: plan.sizeBytes });
  const keep = options.keep ?? plan.checksum?.algorithm ?? 'CRC64NVME';
  const names = digestsFor(plan).add('MD5').add(keep);
  const leave = await services.uploadsInFlight.enter(bucket.workspaceUuid);
  try {
    const writer = await ContentWriter.open(services.contentDeps, names, plan.sizeBytes, {
      ...options,
      ...(bucket === null ? {} : { place: { workspaceUuid: bucket.workspaceUuid, bucketId: bucket.id } }),
    });
    try {
      const consume: ContentConsumer = (chunk, release) => writer.write(chunk, release);
      const trailer =
        context.body === undefined
          ? await receiveBody(request, plan, seed, consume)
          : await context.body(consume).then(() => NO_TRAILER);
      const digests = await writer.digest();
      assertDigests(plan, digests, trailer);
      const value = digests[keep]?.toString('base64') ?? '';
      const md5 = digests.MD5 ?? Buffer.alloc(0);
      const etag = options.key === null ? md5.toString('hex') : options.key.entityTag(md5);
      const content = await writer.seal();
      return { content, sizeBytes: plan.sizeBytes, etag, checksum: { algorithm: keep, type: 'FULL_OBJECT', value } };
    } catch (error) {
      await writer.abort();
      throw error;
    }
  } finally {
    leave();
  }
}

function assertSize(sizeBytes: number, limitBytes: number): void {
  if (sizeBytes <= limitBytes) return;
  throw storeErrors.EntityTooLarge({ details: { proposedSize: sizeBytes, maxSizeAllowed: limitBytes } });
}
