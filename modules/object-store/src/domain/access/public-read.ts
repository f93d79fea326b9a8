import type { BucketRecord, ObjectVersion } from '../ports/records.ts';
import { ANONYMOUS } from '../caller.ts';
import { parseAcl } from './access-control-list.ts';
import type { BucketAccess } from './bucket-access.ts';
import { isAllowed } from './decide.ts';
import type { ConditionValues } from './policy/conditions.ts';

export interface PublicRead {
  bucket: BucketRecord;
  /** From `bucketAccessOf(bucket, await configurations.of(bucket))`. */
  access: BucketAccess;
  version: ObjectVersion;
  /** Whether the request names a version. */
  byVersion?: boolean;
  /** The request's condition values. Defaults to none. */
  conditions?: ConditionValues;
}

/** Whether anyone can read this version without a key: by ACL, by policy or by the bucket's setting. */
export function mayReadAnonymously({ bucket, access, version, byVersion = false, conditions }: PublicRead): boolean {
  const list = version.attributes.accessControlList;
  return isAllowed({
    caller: ANONYMOUS,
    bucket,
    access,
    needs: 'object:read',
    action: byVersion ? 's3:GetObjectVersion' : 's3:GetObject',
    key: version.key,
    acl: { on: 'object', permission: 'READ' },
    objectAcl: list === undefined ? null : parseAcl(list),
    conditions: withObjectTags(conditions ?? (() => undefined), version.attributes.tags),
  });
}

/** Adds the conditions about the object's own tags. */
export function withObjectTags(
  conditions: ConditionValues,
  tags: Readonly<Record<string, string>> | undefined,
): ConditionValues {
  const byLowerCase = new Map(Object.entries(tags ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  return (key) => {
    if (!key.startsWith('s3:existingobjecttag/')) return conditions(key);
    const value = byLowerCase.get(key.slice('s3:existingobjecttag/'.length));
    return value === undefined ? undefined : [value];
  };
}
