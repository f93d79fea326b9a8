import { describe, expect, it } from 'vitest';
import type { BucketRecord } from '../ports/records.ts';
import type { KeyPermission } from '../ports/records.ts';
import { ANONYMOUS, keyActions, type Caller } from '../caller.ts';
import { cannedAcl, privateAcl, type AccessControlList, type CannedAcl } from './access-control-list.ts';
import type { BucketAccess } from './bucket-access.ts';
import { isAllowed, type AccessQuestion } from './decide.ts';
import { parsePolicy } from './policy/parse-policy.ts';
import { NOTHING_BLOCKED, type PublicAccessBlock } from './public-access-block.ts';

const OWNER = '00000000-0000-4000-8000-000000000001';
const WRITER = '00000000-0000-4000-8000-000000000002';
const STRANGER = '00000000-0000-4000-8000-000000000003';

const bucket = { id: 1, name: 'photos', workspaceUuid: OWNER, configurationVersion: 1 } as BucketRecord; // the rest is unused
const createCaller = (
  workspaceUuid: string,
  permissions: readonly KeyPermission[] = ['read', 'write', 'admin'],
): Caller => ({
  accessKeyId: `tid_${workspaceUuid}`,
  workspaceUuid,
  maker: { principalId: 'maker', tokenId: null, kind: 'user', name: 'maker' },
  actions: new Set(keyActions({ permissions, buckets: null })),
  buckets: null,
});
const [owner, writer, stranger] = [createCaller(OWNER), createCaller(WRITER), createCaller(STRANGER)];

interface Scene {
  bucketAcl?: CannedAcl;
  policy?: object;
  block?: Partial<PublicAccessBlock>;
  ownership?: BucketAccess['ownership'];
  publicDefault?: boolean;
}

function createAccess({
  bucketAcl = 'private',
  policy,
  block,
  ownership = null,
  publicDefault = false,
}: Scene): BucketAccess {
  return {
    acl: cannedAcl(bucketAcl, OWNER, OWNER),
    policy: policy === undefined ? null : parsePolicy(JSON.stringify({ Statement: policy }), bucket.name),
    block: { ...NOTHING_BLOCKED, ...block },
    ownership,
    publicDefault,
  };
}

type Asked = Pick<AccessQuestion, 'action' | 'needs' | 'acl' | 'key'>;
const LIST: Asked = {
  action: 's3:ListBucket',
  needs: 'object:list',
  key: null,
  acl: { on: 'bucket', permission: 'READ' },
};
const GET: Asked = {
  action: 's3:GetObject',
  needs: 'object:read',
  key: 'a',
  acl: { on: 'object', permission: 'READ' },
};
const PUT: Asked = {
  action: 's3:PutObject',
  needs: 'object:write',
  key: 'a',
  acl: { on: 'bucket', permission: 'WRITE' },
};
const GET_ACL: Asked = { ...GET, action: 's3:GetObjectAcl', acl: { on: 'object', permission: 'READ_ACP' } };
const PUT_POLICY: Asked = { action: 's3:PutBucketPolicy', needs: 'bucket:update', key: null, acl: null };
const PUT_CORS: Asked = { action: 's3:PutBucketCORS', needs: 'bucket:update', key: null, acl: null };
const DELETE: Asked = {
  action: 's3:DeleteObject',
  needs: 'object:delete',
  key: 'a',
  acl: { on: 'bucket', permission: 'WRITE' },
};

const may = (caller: Caller, asked: Asked, scene: Scene = {}, objectAcl: AccessControlList | null = null): boolean =>
  isAllowed({ caller, bucket, access: createAccess(scene), objectAcl, conditions: () => undefined, ...asked });

const allow = (Action: string, more: object = {}) => ({
  Effect: 'Allow',
  Principal: '*',
  Action,
  Resource: ['arn:aws:s3:::photos', 'arn:aws:s3:::photos/*'],
  ...more,
});
const deny = (Action: string, more: object = {}) => ({ ...allow(Action, more), Effect: 'Deny' });

describe('a bucket without documents', () => {
  it.each([LIST, GET, PUT, GET_ACL, PUT_POLICY, PUT_CORS, DELETE])('allows $action to the owner only', (asked) => {
    expect(may(owner, asked)).toBe(true);
    expect(may(stranger, asked)).toBe(false);
    expect(may(ANONYMOUS, asked)).toBe(false);
  });

  it('limits a caller to the permissions and buckets of its key', () => {
    const reader = createCaller(OWNER, ['read']);
    expect([LIST, GET, PUT, PUT_POLICY, DELETE].map((asked) => may(reader, asked))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
    expect(may({ ...owner, buckets: ['other'] }, GET)).toBe(false);
    expect(may({ ...owner, buckets: ['photos'] }, GET)).toBe(true);
  });
});

describe('bucket ACLs', () => {
  it.each<[CannedAcl, boolean, boolean, boolean, boolean]>([
    ['private', false, false, false, false],
    ['public-read', true, true, false, false],
    ['public-read-write', true, true, true, true],
    ['authenticated-read', true, false, false, false],
    ['log-delivery-write', false, false, false, false],
  ])('%s: strangers list %s, anyone lists %s, strangers write %s, anyone writes %s', (bucketAcl, ...expected) => {
    const asked = [may(stranger, LIST, { bucketAcl }), may(ANONYMOUS, LIST, { bucketAcl })];
    expect([...asked, may(stranger, PUT, { bucketAcl }), may(ANONYMOUS, PUT, { bucketAcl })]).toEqual(expected);
  });

  it('does not apply to objects, and is ignored under ignorePublicAcls and BucketOwnerEnforced', () => {
    const bucketAcl = 'public-read-write';
    expect(may(stranger, GET, { bucketAcl })).toBe(false);
    expect(may(stranger, LIST, { bucketAcl, block: { ignorePublicAcls: true } })).toBe(false);
    expect(may(stranger, LIST, { bucketAcl, ownership: 'BucketOwnerEnforced' })).toBe(false);
  });

  it('does not let a read-only key write to another workspace’s bucket', () => {
    expect(may(createCaller(STRANGER, ['read']), PUT, { bucketAcl: 'public-read-write' })).toBe(false);
  });
});

describe('an object of another workspace', () => {
  const theirs = privateAcl(WRITER);

  it('is readable by its writer only, but the bucket owner can delete it', () => {
    expect(may(writer, GET, {}, theirs)).toBe(true);
    expect(may(owner, GET, {}, theirs)).toBe(false);
    expect(may(owner, GET_ACL, {}, theirs)).toBe(false);
    expect(may(owner, DELETE, {}, theirs)).toBe(true);
    expect(may(stranger, GET, {}, theirs)).toBe(false);
  });

  it('is readable by the bucket owner if granted, or under BucketOwnerEnforced', () => {
    expect(may(owner, GET, {}, cannedAcl('bucket-owner-read', WRITER, OWNER))).toBe(true);
    expect(may(owner, GET, { ownership: 'BucketOwnerEnforced' }, theirs)).toBe(true);
    expect(may(writer, GET, { ownership: 'BucketOwnerEnforced' }, theirs)).toBe(false);
  });

  it('is not opened by a bucket policy', () => {
    expect(may(stranger, GET, { policy: [allow('s3:GetObject')] }, theirs)).toBe(false);
  });

  it('keeps its owner’s right to read the ACL, even if the ACL is empty', () => {
    expect(may(writer, GET, {}, { owner: WRITER, grants: [] })).toBe(false);
    expect(may(writer, GET_ACL, {}, { owner: WRITER, grants: [] })).toBe(true);
  });
});

describe('bucket policies', () => {
  it('allows only the named actions to the named principals', () => {
    const policy = [allow('s3:GetObject', { Principal: { AWS: `arn:aws:iam::${STRANGER}:root` } })];
    expect(may(stranger, GET, { policy })).toBe(true);
    expect(may(writer, GET, { policy })).toBe(false);
    expect(may(ANONYMOUS, GET, { policy })).toBe(false);
    expect(may(stranger, LIST, { policy })).toBe(false);
  });

  it('denies before anything else allows, even for the owner', () => {
    const policy = [allow('s3:*'), deny('s3:GetObject')];
    expect(may(stranger, GET, { policy })).toBe(false);
    expect(may(owner, GET, { policy })).toBe(false);
    expect(may(stranger, PUT, { policy })).toBe(true);
    expect(may(stranger, GET, { policy: [deny('s3:GetObject')], publicDefault: true })).toBe(false);
  });

  it('cannot lock the owner out of the policy itself', () => {
    expect(may(owner, PUT_POLICY, { policy: [deny('s3:*')] })).toBe(true);
    expect(may(owner, PUT_CORS, { policy: [deny('s3:*')] })).toBe(false);
    expect(may(createCaller(OWNER, ['read']), PUT_POLICY, { policy: [deny('s3:*')] })).toBe(false);
    expect(may(stranger, PUT_POLICY, { policy: [deny('s3:*')] })).toBe(false);
  });

  it('admits only the owner if the policy is public and restrictPublicBuckets is set', () => {
    const scene = { policy: [allow('s3:GetObject')], block: { restrictPublicBuckets: true } };
    expect(may(ANONYMOUS, GET, scene)).toBe(false);
    expect(may(stranger, GET, scene)).toBe(false);
    expect(may(owner, GET, scene)).toBe(true);
    expect(may(ANONYMOUS, GET, scene, cannedAcl('public-read', OWNER, OWNER))).toBe(false);
    const named = [allow('s3:GetObject', { Principal: { AWS: STRANGER } })];
    expect(may(stranger, GET, { ...scene, policy: named })).toBe(true);
  });
});

describe('a bucket with publicDefault', () => {
  it('lets anyone read its objects, and nothing else', () => {
    const scene = { publicDefault: true };
    expect([GET, LIST, PUT, GET_ACL, DELETE].map((asked) => may(ANONYMOUS, asked, scene))).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  it.each<Partial<PublicAccessBlock>>([{ ignorePublicAcls: true }, { restrictPublicBuckets: true }])(
    'is closed by %s',
    (block) => {
      expect(may(ANONYMOUS, GET, { publicDefault: true, block })).toBe(false);
    },
  );
});
