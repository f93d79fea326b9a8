import { ANONYMOUS, callerOf } from '../../domain/caller.ts';
import { MAX_OBJECT_TAGS, type Tags } from '../../domain/tags.ts';
import { storeErrors } from '../../errors.ts';
import { authorize } from '../access/authorize.ts';
import { operationActions } from '../access/operation-actions.ts';
import { chunksOf, openFile } from '../form/file-content.ts';
import { assertFormAllowed, assertFormSize, parseFormPolicy } from '../form/form-policy.ts';
import { FormReader } from '../form/form-reader.ts';
import { boundaryOf, toPutRequest, withFileName } from '../form/form-request.ts';
import { whoSignedForm } from '../form/form-signature.ts';
import { urlOf } from '../object-url.ts';
import { respondEmpty } from '../respond.ts';
import { bucketOf, type S3Context, type S3Handler } from '../s3-context.ts';
import { parseTagging } from '../tagging-document.ts';
import { xmlDocument } from '../xml-writer.ts';
import { storeObject } from './put-object.ts';
import { audited } from '../audited.ts';
import { auditedChange } from '../s3-audit.ts';
import { watchKey } from '../watch-key.ts';

/** Of what a form has after its file. */
const EPILOGUE_BYTES = 64 * 1024;

/** Everything that can be refused is, before a byte of the file is stored: who signed, what was allowed, what is asked. */
export const postObject: S3Handler = async (context) => {
  const { request, response, services, oversight } = context;
  const bodyBytes = readLength(request.headers.get('content-length'));
  const boundary = boundaryOf(request.headers.get('content-type'));
  request.wantBody();
  const form = new FormReader(chunksOf(request.incoming), boundary);
  const filled = await form.fields();
  const fields = withFileName(filled);
  const { parts, credentials } = services;
  const signer = await whoSignedForm(fields, { credentials, regions: parts.config.regions });
  const policy = signer === null ? null : parseFormPolicy(fields.get('policy') ?? '');
  // What policies call the bucket is a field to them, whether the form has one or not.
  const facts = new Map([...fields, ['bucket', request.bucketName ?? '']]);
  if (policy !== null) assertFormAllowed(policy, facts, parts.now());
  const bucket = bucketOf(context);
  const caller = signer === null ? ANONYMOUS : callerOf(signer);
  if (signer !== null) await oversight.audit.noteFirstUse(signer.key, caller, request);
  const named = toPutRequest(request, fields, 0);
  const asking = { services, caller, bucket, action: operationActions.PutObject, needs: 'object:write' } as const;
  const authType = signer === null ? null : 'POST';
  const access = await authorize({ ...asking, request: named, authType });
  const tags = readTags(fields.get('tagging'));
  const file = await openFile(form, bodyBytes, boundary);
  if (policy !== null) assertFormSize(policy, file.sizeBytes);
  const put: S3Context = {
    ...context,
    request: toPutRequest(request, fields, file.sizeBytes),
    caller,
    access,
    body: file.pump,
  };
  const { rights } = oversight;
  const endWatch = watchKey({ request, response, caller, needs: asking.needs }, { rights, credentials });
  try {
    await audited(auditedChange('PutObject', asking.needs, put.request), put, async () => {
      const { etag, headers } = await storeObject(put, tags === null ? {} : { tags }, 'ObjectCreated:Post');
      await form.drain(EPILOGUE_BYTES);
      answer(put, fields, etag, { ...headers, etag: `"${etag}"` });
    });
  } finally {
    endWatch();
  }
};

function answer(
  { request, response, bucket }: S3Context,
  fields: ReadonlyMap<string, string>,
  etag: string,
  headers: Parameters<typeof respondEmpty>[2],
): void {
  const [bucketName, key] = [bucket?.name ?? '', request.key ?? ''];
  const location = urlOf(request, bucketName, key);
  const redirect = redirectOf(fields.get('success_action_redirect') ?? fields.get('redirect'), bucketName, key, etag);
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

/** Null for what is no address to go to: then the form is answered as if it had named none, as S3 does. */
function redirectOf(wanted: string | undefined, bucketName: string, key: string, etag: string): string | null {
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
