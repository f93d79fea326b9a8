import { isAppError } from '@svc/errors';
import type { Caller } from '../../domain/caller.ts';
import { createOwner } from '../../domain/access/owner-identity.ts';
import type { ConditionValues } from '../../domain/access/policy/conditions.ts';
import type { BucketRecord } from '../../domain/ports/records.ts';
import { parseCopySource } from '../copy-source-header.ts';
import type { S3Request } from '../s3-request.ts';

export interface RequestFacts {
  request: Pick<S3Request, 'query' | 'remoteAddress' | 'isSecure'>;
  /** A header of the request, or the form field that replaces it. */
  header: (name: string) => string | undefined;
  /** Whether the request has a header whose name matches. */
  sends: (name: RegExp) => boolean;
  caller: Caller;
  bucket: BucketRecord;
  nowMs: number;
  authType: 'REST-HEADER' | 'REST-QUERY-STRING' | 'POST' | null;
}

/** Maps a condition key to the request's values, computed on demand. */
export function createConditionValues(facts: RequestFacts): ConditionValues {
  const { request, header } = facts;
  return (key) => {
    const known = VALUES[key];
    if (known !== undefined) return listOf(known(facts));
    if (key.startsWith('s3:x-amz-')) return listOf(header(key.slice('s3:'.length)));
    if (key.startsWith('s3:requestobjecttag/')) {
      return listOf(requestTags(header).get(key.slice('s3:requestobjecttag/'.length)));
    }
    if (key === 's3:requestobjecttagkeys') {
      const names = [...requestTags(header).keys()];
      return names.length === 0 ? undefined : names;
    }
    const parameter = QUERY_KEYS[key];
    return parameter === undefined ? undefined : listOf(request.query.get(parameter));
  };
}

const QUERY_KEYS: Readonly<Record<string, string>> = {
  's3:prefix': 'prefix',
  's3:delimiter': 'delimiter',
  's3:max-keys': 'max-keys',
  's3:versionid': 'versionId',
};

const VALUES: Readonly<Record<string, (facts: RequestFacts) => string | undefined>> = {
  'aws:sourceip': ({ request }) => request.remoteAddress,
  'aws:securetransport': ({ request }) => String(request.isSecure),
  'aws:useragent': ({ header }) => header('user-agent'),
  'aws:referer': ({ header }) => header('referer'),
  'aws:currenttime': ({ nowMs }) => new Date(nowMs).toISOString(),
  'aws:epochtime': ({ nowMs }) => String(Math.floor(nowMs / 1_000)),
  'aws:principaltype': ({ caller }) => (caller.workspaceUuid === null ? 'Anonymous' : 'Account'),
  'aws:principalaccount': ({ caller }) => caller.workspaceUuid ?? undefined,
  'aws:userid': ({ caller }) => caller.accessKeyId ?? undefined,
  'aws:username': ({ caller }) => caller.accessKeyId ?? undefined,
  's3:authtype': ({ authType }) => authType ?? undefined,
  's3:signatureversion': ({ authType }) => (authType === null ? undefined : 'AWS4-HMAC-SHA256'),
  's3:resourceaccount': ({ bucket }) => bucket.workspaceUuid,
  'aws:resourceaccount': ({ bucket }) => bucket.workspaceUuid,
  's3:x-amz-copy-source': ({ header }) => copySource(header('x-amz-copy-source')),
  's3:object-lock-mode': ({ header }) => header('x-amz-object-lock-mode'),
  's3:object-lock-legal-hold': ({ header }) => header('x-amz-object-lock-legal-hold'),
  's3:object-lock-retain-until-date': ({ header }) => header('x-amz-object-lock-retain-until-date'),
  's3:if-match': ({ header }) => header('if-match'),
  's3:if-none-match': ({ header }) => header('if-none-match'),
};

function listOf(value: string | undefined): readonly string[] | undefined {
  return value === undefined ? undefined : [value];
}

/** The `bucket/key` that is copied, as policies spell it. A header that names none is refused later. */
function copySource(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  try {
    const { bucketName, key } = parseCopySource(header);
    return `${bucketName}/${key}`;
  } catch (error) {
    if (isAppError(error)) return header;
    throw error;
  }
}

/** Parses `x-amz-tagging`. Names are lower case, as condition keys are. */
function requestTags(header: (name: string) => string | undefined): ReadonlyMap<string, string> {
  const tags = new URLSearchParams(header('x-amz-tagging') ?? '');
  return new Map([...tags].map(([name, value]) => [name.toLowerCase(), value]));
}

/** Checks `x-amz-expected-bucket-owner` against the canonical id of the bucket's workspace, or its uuid. */
export function isExpectedOwner(expected: string | undefined, bucket: BucketRecord): boolean {
  if (expected === undefined) return true;
  return expected === bucket.workspaceUuid || expected === createOwner(bucket.workspaceUuid).id;
}
