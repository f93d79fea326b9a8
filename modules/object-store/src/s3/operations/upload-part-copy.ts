import { defineOperation, isCopy, type ObjectHandler } from '../operation.ts';
import { WRITE_OBJECT } from '../access/rules.ts';
import { storeErrors } from '../../errors.ts';
import type { ReadRange } from '../../domain/ports/blob-store.ts';
import { findSource, retryWhileChanging } from '../copy-request.ts';
import { readCopySource } from '../copy-source-header.ts';
import { encryptionHeaders, readCopySourceCustomerKey, readCustomerKey } from '../encryption-headers.ts';
import { checksumElements } from '../object-headers.ts';
import { toIsoDate } from '../page-parameters.ts';
import { respondXml, setHeaders } from '../respond.ts';
import { sourceVersionHeaders } from './copy.ts';
import { readPartNumber, readUploadName } from './multipart.ts';

const RANGE = 'x-amz-copy-source-range';

const uploadPartCopy: ObjectHandler = async (context) => {
  const { request, response, services } = context;
  const { limits } = services.deps.config;
  const partNumber = readPartNumber(request.query.get('partNumber'), limits.parts);
  readCopySource(request.headers); // validates the header before looking up the upload
  const name = readUploadName(context);
  const upload = await services.multipart.get(name);
  const customerKey = readCustomerKey(context);
  const uploadKey = await services.encryption.open(upload.attributes.encryption, customerKey);
  const { source, part } = await retryWhileChanging(async () => {
    const source = await findSource(context);
    const range = readRange(request.headers.get(RANGE), source.found.version.sizeBytes);
    if (range.endExclusive - range.start > limits.put_bytes) {
      const reason = `The specified copy source is larger than the maximum allowable size for a copy source: ${limits.put_bytes}`;
      throw storeErrors.InvalidRequest({ details: { reason } });
    }
    const { encryption } = source.found.version.attributes;
    const sourceKey = await services.encryption.open(encryption, readCopySourceCustomerKey(context));
    const leave = await services.uploadsInFlight.enter(name.bucket.workspaceUuid);
    try {
      const copy = { ...name, upload, uploadKey, partNumber, source: source.found, sourceKey, range };
      return { source, part: await services.copies.part(copy) };
    } finally {
      leave();
    }
  });
  setHeaders(response, {
    ...sourceVersionHeaders(source),
    ...encryptionHeaders(upload.attributes.encryption, customerKey),
  });
  // Report a part's checksum only if the upload declared an algorithm; otherwise it is internal.
  const { ChecksumType: _, ...checksum } = checksumElements(upload.checksumAlgorithm === null ? null : part.checksum);
  respondXml(response, 'CopyPartResult', {
    LastModified: toIsoDate(services.deps.clock.nowMs()),
    ETag: `"${part.etag}"`,
    ...checksum,
  });
};

/** Unlike a read range, this one requires both ends. Both are inclusive. */
function readRange(header: string | undefined, sizeBytes: number): ReadRange {
  if (header === undefined) return { start: 0, endExclusive: sizeBytes };
  const [, first, last] = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(header) ?? [];
  if (first === undefined || last === undefined || Number(first) > Number(last)) {
    throw storeErrors.InvalidArgument({
      details: {
        reason:
          'The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy',
      },
    });
  }
  if (Number(last) >= sizeBytes) throw storeErrors.InvalidRange({ details: { sizeBytes } });
  return { start: Number(first), endExclusive: Number(last) + 1 };
}

export const uploadPartCopyOperations = [
  defineOperation({
    name: 'UploadPartCopy',
    on: 'object',
    method: 'PUT',
    subresource: 'uploadId',
    matches: isCopy,
    ...WRITE_OBJECT,
    handle: uploadPartCopy,
  }),
];
