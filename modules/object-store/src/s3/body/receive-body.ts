import type { SignatureSeed } from '@svc/s3-sign';
import type { S3Request } from '../s3-request.ts';
import { checksumHeaderName } from '../../domain/checksums/algorithms.ts';
import { storeErrors } from '../../errors.ts';
import type { BodyPlan } from './body-plan.ts';
import { ChunkSignatures, TRAILER_SIGNATURE } from './chunk-signatures.ts';
import { ChunkedDecoder } from './chunked-decoder.ts';
import type { ContentConsumer } from '../../domain/content/content-source.ts';
import { pumpBody } from './pump-body.ts';

const NO_TRAILER: ReadonlyMap<string, string> = new Map();

/** Passes the content of a body to the consumer, with framing removed and chunk signatures verified. */
export async function receiveBody(
  request: S3Request,
  plan: BodyPlan,
  seed: SignatureSeed | null,
  consume: ContentConsumer,
): Promise<ReadonlyMap<string, string>> {
  request.wantBody();
  if (plan.payload.kind !== 'chunked') {
    await pumpBody(request.incoming, consume);
    return NO_TRAILER;
  }
  const signatures = plan.payload.signed && seed !== null ? new ChunkSignatures(seed, plan.payload.trailer) : null;
  const decoder = new ChunkedDecoder(consume, signatures);
  await pumpBody(request.incoming, (chunk, release) => decoder.push(chunk, release));
  decoder.end();
  assertTrailer(plan, decoder.trailer);
  return decoder.trailer;
}

/** The trailer must contain the announced checksum and nothing else. */
function assertTrailer({ checksum }: BodyPlan, trailer: ReadonlyMap<string, string>): void {
  const announced = checksum !== null && checksum.value === null ? checksumHeaderName(checksum.algorithm) : null;
  const names = [...trailer.keys()].filter((name) => name !== TRAILER_SIGNATURE);
  const isAsAnnounced = announced === null ? names.length === 0 : names.length === 1 && names[0] === announced;
  if (!isAsAnnounced) throw storeErrors.MalformedTrailerError();
}
