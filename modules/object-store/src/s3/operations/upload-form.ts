import { defineOperation, type ServiceHandler } from '../operation.ts';
import { ANONYMOUS, createCaller } from '../../domain/caller.ts';
import { MAX_OBJECT_TAGS, type Tags } from '../../domain/tags.ts';
import { storeErrors } from '../../errors.ts';
import { authorize } from '../access/authorize.ts';
import { WRITE_OBJECT } from '../access/rules.ts';
import { readChunks, openFile } from '../form/file-content.ts';
import { assertFormAllowed, assertFormSize, parseFormPolicy } from '../form/form-policy.ts';
import { FormReader } from '../form/form-reader.ts';
import { parseBoundary, toPutRequest, withFileName } from '../form/form-request.ts';
import { authenticateForm } from '../form/form-signature.ts';
import { createObjectUrl } from '../object-url.ts';
import { enterBucket } from '../enter-bucket.ts';
import { respondEmpty } from '../respond.ts';
import type { ObjectContext } from '../s3-context.ts';
import { parseTagging } from '../tagging-document.ts';
import { xmlDocument } from '../xml-writer.ts';
import { storeObject } from './put-object.ts';
import { audited } from '../audited.ts';
import { auditedChange } from '../audited-change.ts';
import { watchBucket } from '../watch-bucket.ts';
import { watchKey } from '../watch-key.ts';

/** Limit on reading the rest of a form after its file. */
const EPILOGUE_BYTES = 64 * 1024;

/** Checks everything before storing a byte of the file: the signature, the policy and the access. */
const postObject: ServiceHandler = async (context) => {
  const { request, response, services, oversight } = context;
  const bucket = await services.deps.metadata.findBucket({ name: request.bucketName ?? '' });
  if (bucket !== null) await enterBucket(context, bucket); // a missing bucket is reported only for a valid form
  const bodyBytes = readLength(request.headers.get('content-length'));
  const boundary = parseBoundary(request.headers.get('content-type'));
  request.wantBody();
  const form = new FormReader(readChunks(request.incoming), boundary);
  const filled = await form.fields();
  const fields = withFileName(filled);
  const { deps, credentials } = services;
  const signer = await authenticateForm(fields, { credentials, regions: deps.config.regions });
  const policy = signer === null ? null : parseFormPolicy(fields.get('policy') ?? '');
  // Policies treat the bucket as a field, whether the form has one or not.
  const facts = new Map([...fields, ['bucket', request.bucketName ?? '']]);
  if (policy !== null) assertFormAllowed(policy, facts, deps.clock.nowMs());
  if (bucket === null) throw storeErrors.NoSuchBucket();
  const caller = signer === null ? ANONYMOUS : createCaller(signer);
  if (signer !== null) await oversight.audit.noteFirstUse(signer.key, caller, request);
  const named = toPutRequest(request, fields, 0);
  const input = { services, caller, bucket, operation: WRITE_OBJECT } as const;
  const authType = signer === null ? null : 'POST';
  const asked = { ...input, request: named, authType } as const;
  const access = await authorize(asked);
  const tags = readTags(fields.get('tagging'));
  const file = await openFile(form, bodyBytes, boundary);
  if (policy !== null) assertFormSize(policy, file.sizeBytes);
  const filed = toPutRequest(request, fields, file.sizeBytes);
  const put: ObjectContext = {
    ...context,
    request: filed,
    caller,
    bucket,
    access,
    key: filed.key,
    body: file.pump,
  };
  const { rights } = oversight;
  const endWatch = watchKey({ request, response, caller, needs: WRITE_OBJECT.needs }, { rights, credentials });
  const endStranger = watchBucket({ request, response, input: asked });
  try {
    await audited(auditedChange('PutObject', WRITE_OBJECT.needs, put.request), put, async () => {
      const { etag, headers } = await storeObject(put, tags === null ? {} : { tags }, 'ObjectCreated:Post');
      await form.drain(EPILOGUE_BYTES);
      answer(put, fields, etag, { ...headers, etag: `"${etag}"` });
    });
  } finally {
    endWatch();
    endStranger();
  }
};

function answer(
  { request, response, bucket, key }: ObjectContext,
  fields: ReadonlyMap<string, string>,
  etag: string,
  headers: Parameters<typeof respondEmpty>[2],
): void {
  const bucketName = bucket.name;
  const location = createObjectUrl(request, bucketName, key);
  const redirect = renderRedirect(
    fields.get('success_action_redirect') ?? fields.get('redirect'),
    bucketName,
    key,
    etag,
  );
  if (redirect !== null) {
    respondEmpty(response, 303, { ...headers, location: redirect });
    return;
  }
  const status = fields.get('success_action_status');
  if (status !== '201') {
    respondEmpty(response, status === '200' ? 200 : 204, { ...headers, location });
    return;
  }
  for (const [name, value] of Object.entries({ ...headers, location })) {
    if (value !== undefined) response.setHeader(name, value);
  }
  const content = { Location: location, Bucket: bucketName, Key: key, ETag: `"${etag}"` };
  const body = Buffer.from(xmlDocument('PostResponse', content, { namespace: false }));
  response.writeHead(201, { 'content-type': 'application/xml', 'content-length': body.length });
  response.end(body);
}

/** Null for an invalid URL, which is treated as absent, as in S3. */
function renderRedirect(wanted: string | undefined, bucketName: string, key: string, etag: string): string | null {
  const url = URL.parse(wanted ?? '');
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  const query = `bucket=${encodeURIComponent(bucketName)}&key=${encodeURIComponent(key)}&etag=%22${etag}%22`;
  url.search = url.search === '' ? query : `${url.search}&${query}`;
  return url.href;
}

function readTags(document: string | undefined): Tags | null {
  if (document === undefined || document === '') return null;
  const tags = parseTagging(document, MAX_OBJECT_TAGS);
  return Object.keys(tags).length === 0 ? null : tags;
}

function readLength(text: string | undefined): number {
  if (text === undefined || !/^\d{1,15}$/.test(text)) throw storeErrors.MissingContentLength();
  return Number(text);
}

export const uploadFormOperations = [
  defineOperation({
    name: 'PostObject',
    on: 'service',
    at: 'bucket',
    method: 'POST',
    action: 's3:PutObject',
    needs: 'object:write',
    authentication: 'form',
    handle: postObject,
  }),
];
