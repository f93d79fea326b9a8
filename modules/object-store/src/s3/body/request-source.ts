import type { ContentSource } from '../../domain/content/content-source.ts';
import type { S3Context } from '../s3-context.ts';
import { assertDigests, digestsFor, readBodyPlan } from './body-plan.ts';
import { receiveBody } from './receive-body.ts';

const NO_TRAILER: ReadonlyMap<string, string> = new Map();

/** The content of a request, with everything that it declares about its body. */
export function createRequestSource({ request, payload, seed, body }: S3Context): ContentSource {
  const plan = readBodyPlan(request, payload);
  let trailer = NO_TRAILER;
  return {
    sizeBytes: plan.sizeBytes,
    isUpload: true,
    pump: async (consume) => {
      if (body === undefined) trailer = await receiveBody(request, plan, seed, consume);
      else await body(consume);
    },
    ...(plan.checksum === null ? {} : { algorithm: plan.checksum.algorithm }),
    declared: {
      names: digestsFor(plan),
      verify: (digests) => assertDigests(plan, digests, trailer),
    },
  };
}
