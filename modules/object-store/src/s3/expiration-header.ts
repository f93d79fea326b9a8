import type { OutgoingHttpHeaders } from 'node:http';
import { toHttpDate } from '../domain/http-date.ts';
import { parseLifecycleDocument } from '../domain/lifecycle/lifecycle-document.ts';
import { DAY_MS, findExpiry, type Matchable } from '../domain/lifecycle/rule-matching.ts';
import type { StoreServices } from '../domain/services.ts';
import type { BucketRecord, ObjectAttributes } from '../domain/ports/records.ts';

/** `x-amz-expiration` of the current version, in calendar days. Empty if no rule will expire it. */
export async function expirationHeaders(
  { configurations }: StoreServices,
  bucket: BucketRecord,
  object: Matchable & { modifiedAtMs: number },
): Promise<OutgoingHttpHeaders> {
  if (bucket.configurationVersion === 0) return {}; // most buckets: nothing to look up
  const configuration = await configurations.of(bucket);
  const document = configuration.parsed('lifecycle', parseLifecycleDocument);
  const expiry = document === null ? null : findExpiry(document, object, { lengthMs: DAY_MS });
  if (expiry === null) return {};
  const ruleId = encodeURIComponent(expiry.ruleId).replaceAll('%20', '+');
  return { 'x-amz-expiration': `expiry-date="${toHttpDate(expiry.atMs)}", rule-id="${ruleId}"` };
}

export function matchable(object: {
  key: string;
  sizeBytes: number;
  modifiedAtMs: number;
  attributes: Pick<ObjectAttributes, 'tags'>;
}): Matchable & { modifiedAtMs: number } {
  const { key, sizeBytes, modifiedAtMs, attributes } = object;
  return { key, sizeBytes, modifiedAtMs, tags: attributes.tags ?? {} };
}
