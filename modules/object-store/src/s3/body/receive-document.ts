import { MultiHasher } from '../../domain/checksums/hasher.ts';
import { storeErrors } from '../../errors.ts';
import type { S3Context } from '../s3-context.ts';
import { assertDigests, digestsFor, readBodyPlan, type BodyPlanOptions } from './body-plan.ts';
import { receiveBody } from './receive-body.ts';

/** Receives a small body as text, such as an XML document, and verifies everything declared about it. */
export async function receiveDocument(
  context: S3Context,
  limitBytes: number,
  options: BodyPlanOptions = {},
): Promise<string> {
  const { request, payload, seed, services } = context;
  const plan = readBodyPlan(request, payload, options);
  if (payload.kind === 'chunked' && !payload.signed) {
    // only object bodies can be streamed like this
    const reason = 'The value of x-amz-content-sha256 header is invalid.';
    throw storeErrors.InvalidRequest({ details: { reason } });
  }
  if (plan.sizeBytes > limitBytes) throw storeErrors.MaxMessageLengthExceeded({ details: { maxBytes: limitBytes } });
  const { kernels } = services.deps.hashing;
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

/** Reject invalid UTF-8: replacing it with U+FFFD could turn a name into another one. */
function decodeText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw storeErrors.MalformedXML({ cause });
  }
}
