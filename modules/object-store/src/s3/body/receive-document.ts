import { MultiHasher } from '../../domain/checksums/hasher.ts';
import { storeErrors } from '../../errors.ts';
import type { S3Context } from '../s3-context.ts';
import { assertDigests, digestsFor, readBodyPlan, type BodyPlanOptions } from './body-plan.ts';
import { receiveBody } from './receive-body.ts';

/** A small body as text, such as an XML document, with everything that was announced about it verified. */
export async function receiveDocument(
  context: S3Context,
  limitBytes: number,
  options: BodyPlanOptions = {},
): Promise<string> {
  const { request, payload, seed, services } = context;
  const plan = readBodyPlan(request, payload, options);
  if (payload.kind === 'chunked' && !payload.signed) {
    const reason = 'The value of x-amz-content-sha256 header is invalid.'; // only bodies of objects are streamed so
    throw storeErrors.InvalidRequest({ details: { reason } });
  }
  if (plan.sizeBytes > limitBytes) throw storeErrors.MaxMessageLengthExceeded({ details: { maxBytes: limitBytes } });
  const { kernels } = services.parts.hashing;
  const names = digestsFor(plan);
  await kernels.prepare(names);
  const hasher = new MultiHasher(kernels, names);
  const chunks: Buffer[] = [];
  let received = 0;
  const trailer = await receiveBody(request, plan, seed, (chunk) => {
    received += chunk.length;
    if (received > plan.sizeBytes) throw storeErrors.IncompleteBody();
    hasher.update(chunk);
    chunks.push(chunk);
    return undefined;
  });
  if (received !== plan.sizeBytes) throw storeErrors.IncompleteBody();
  assertDigests(plan, hasher.digest(), trailer);
  return decodeText(Buffer.concat(chunks));
}

/** Bytes that are no UTF-8 name nothing: replaced by U+FFFD they could name something else. */
function decodeText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw storeErrors.MalformedXML({ cause });
  }
}
