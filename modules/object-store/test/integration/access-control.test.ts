import { randomUUID } from 'node:crypto';
import {
  CreateBucketCommand,
  DeleteBucketPolicyCommand,
  GetBucketAclCommand,
  GetBucketPolicyCommand,
  GetBucketPolicyStatusCommand,
  GetObjectAclCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutBucketAclCommand,
  PutBucketOwnershipControlsCommand,
  PutBucketPolicyCommand,
  PutObjectAclCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  PutPublicAccessBlockCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createOwner } from '../../src/domain/access/owner-identity.ts';
import { sendRaw, signed, type RawRequest } from '../support/raw-request.ts';
import { startStore, type RunningStore, type TestKey } from '../support/running-store.ts';
import { catchRefusal, sdkClient } from '../support/s3-client.ts';

const DENIED = { code: 'AccessDenied', status: 403 };
const ALL_USERS = 'http://acs.amazonaws.com/groups/global/AllUsers';

describe('access from outside the workspace', () => {
  const [home, abroad] = [randomUUID(), randomUUID()];
  const [owner, guest] = [createOwner(home), createOwner(abroad)];
  let folder: TemporaryFolder;
  let store: RunningStore;
  let key: TestKey;
  let mine: S3Client;
  let theirs: S3Client;
  let Bucket: string;

  beforeAll(async () => {
    folder = await temporaryFolder();
    store = await startStore(folder.path, { emails: { 'guest@example.com': abroad } });
    key = await store.createKey({ workspaceUuid: home });
    mine = sdkClient(store, key);
    theirs = sdkClient(store, await store.createKey({ workspaceUuid: abroad }));
  });
  beforeEach(async () => {
    Bucket = `bucket-${randomUUID()}`;
    await mine.send(new CreateBucketCommand({ Bucket }));
    await mine.send(new PutObjectCommand({ Bucket, Key: 'a', Body: 'content' }));
  });
  afterAll(async () => {
    mine.destroy();
    theirs.destroy();
    await store.close();
    await folder.remove();
  });

  const anonymous = async (Key = 'a'): Promise<number> =>
    (await sendRaw(store.endpoint, { target: `/${Bucket}/${Key}` })).status;
  const send = (raw: RawRequest) => sendRaw(store.endpoint, signed(raw, { key, host: new URL(store.endpoint).host }));
  const policy = (...Statement: object[]) =>
    mine.send(new PutBucketPolicyCommand({ Bucket, Policy: JSON.stringify({ Version: '2012-10-17', Statement }) }));
  const allowGet = (more: object = {}) => ({
    Effect: 'Allow',
    Principal: '*',
    Action: 's3:GetObject',
    Resource: `arn:aws:s3:::${Bucket}/*`,
    ...more,
  });

  describe('ACLs', () => {
    it('give only the owner access to a new bucket and object', async () => {
      const expected = {
        Owner: { ID: owner.id, DisplayName: owner.displayName },
        Grants: [{ Grantee: { ID: owner.id, DisplayName: home, Type: 'CanonicalUser' }, Permission: 'FULL_CONTROL' }],
      };
      expect(await mine.send(new GetBucketAclCommand({ Bucket }))).toMatchObject(expected);
      expect(await mine.send(new GetObjectAclCommand({ Bucket, Key: 'a' }))).toMatchObject(expected);
    });

    it('make an object public and private again', async () => {
      expect(await anonymous()).toBe(403);
      await mine.send(new PutObjectAclCommand({ Bucket, Key: 'a', ACL: 'public-read' }));
      expect(await anonymous()).toBe(200);
      expect(await catchRefusal(theirs.send(new GetObjectCommand({ Bucket, Key: 'a' })))).toMatchObject({
        code: 'none',
      });
      await mine.send(new PutObjectAclCommand({ Bucket, Key: 'a', ACL: 'private' }));
      expect(await anonymous()).toBe(403);
    });

    it('grant access by ID, by email and to groups', async () => {
      const AccessControlPolicy = {
        Owner: { ID: owner.id },
        Grants: [
          { Grantee: { ID: owner.id, Type: 'CanonicalUser' as const }, Permission: 'FULL_CONTROL' as const },
          { Grantee: { ID: guest.id, Type: 'CanonicalUser' as const }, Permission: 'READ' as const },
          {
            Grantee: { EmailAddress: 'guest@example.com', Type: 'AmazonCustomerByEmail' as const },
            Permission: 'WRITE' as const,
          },
          { Grantee: { URI: ALL_USERS, Type: 'Group' as const }, Permission: 'READ_ACP' as const },
        ],
      };
      await mine.send(new PutBucketAclCommand({ Bucket, AccessControlPolicy }));
      const { Grants = [] } = await theirs.send(new GetBucketAclCommand({ Bucket }));
      expect(Grants.map(({ Grantee, Permission }) => [Grantee?.ID ?? Grantee?.URI, Permission])).toEqual([
        [ALL_USERS, 'READ_ACP'],
        [owner.id, 'FULL_CONTROL'],
        [guest.id, 'READ'],
        [guest.id, 'WRITE'],
      ]);
      expect((await theirs.send(new ListObjectsV2Command({ Bucket }))).KeyCount).toBe(1);
      await theirs.send(new PutObjectCommand({ Bucket, Key: 'b', Body: 'theirs' }));
      expect(await catchRefusal(mine.send(new GetObjectCommand({ Bucket, Key: 'b' })))).toEqual(DENIED);
    });

    it('are set on upload by grant headers', async () => {
      const GrantRead = `id="${guest.id}", uri="${ALL_USERS}"`;
      await mine.send(new PutObjectCommand({ Bucket, Key: 'b', Body: 'x', GrantRead }));
      expect(await anonymous('b')).toBe(200);
      const { Grants = [] } = await mine.send(new GetObjectAclCommand({ Bucket, Key: 'b' }));
      expect(Grants.map(({ Permission }) => Permission)).toEqual(['READ', 'READ']);
    });

    const acl = (content: string): string => `<AccessControlPolicy>${content}</AccessControlPolicy>`;
    const ofOwner = `<Owner><ID>${owner.id}</ID></Owner>`;
    const grant = (grantee: string, permission = 'READ'): string =>
      acl(
        `${ofOwner}<AccessControlList><Grant><Grantee>${grantee}</Grantee><Permission>${permission}</Permission></Grant></AccessControlList>`,
      );
    it.each<[string, string, string]>([
      ['no XML', '<Access', 'MalformedACLError'],
      ['another document', '<Tagging/>', 'MalformedACLError'],
      ['no owner', acl('<AccessControlList/>'), 'MalformedACLError'],
      ['no list', acl(ofOwner), 'MalformedACLError'],
      ['an unknown permission', grant(`<ID>${guest.id}</ID>`, 'OWN'), 'MalformedACLError'],
      ['nobody', grant(''), 'MalformedACLError'],
      ['two in one', grant(`<ID>${guest.id}</ID><URI>${ALL_USERS}</URI>`), 'MalformedACLError'],
      ['an id that is none', grant('<ID>_foo</ID>'), 'InvalidArgument'],
      ['a group that is none', grant('<URI>http://example.com/everybody</URI>'), 'InvalidArgument'],
      ['an address of nobody', grant('<EmailAddress>no@example.com</EmailAddress>'), 'UnresolvableGrantByEmailAddress'],
      ['another owner', acl(`<Owner><ID>${guest.id}</ID></Owner><AccessControlList/>`), 'AccessDenied'],
      ['nothing', '', 'MissingSecurityHeader'],
    ])('reject a document with %s', async (_, body, code) => {
      for (const target of [`/${Bucket}?acl`, `/${Bucket}/a?acl`]) {
        expect((await send({ method: 'PUT', target, body })).code).toBe(code);
      }
    });

    it.each<[Record<string, string>, string]>([
      [{ 'x-amz-acl': 'public' }, 'InvalidArgument'],
      [{ 'x-amz-acl': 'private', 'x-amz-grant-read': `id=${guest.id}` }, 'InvalidRequest'],
      [{ 'x-amz-grant-read': 'somebody' }, 'InvalidArgument'],
      [{ 'x-amz-grant-read': 'id=_foo' }, 'InvalidArgument'],
      [{ 'x-amz-grant-read': 'emailAddress="no@example.com"' }, 'UnresolvableGrantByEmailAddress'],
    ])('reject the headers %j', async (headers, code) => {
      for (const target of [`/${Bucket}?acl`, `/${Bucket}/a?acl`, `/${Bucket}/new`, `/new-${Bucket.slice(0, 50)}`]) {
        expect((await send({ method: 'PUT', target, headers })).code).toBe(code);
      }
    });
  });

  describe('policies', () => {
    it('are returned byte for byte, and are gone once deleted', async () => {
      const Policy = ` { "Statement": [${JSON.stringify(allowGet())}] } `;
      await mine.send(new PutBucketPolicyCommand({ Bucket, Policy }));
      expect((await mine.send(new GetBucketPolicyCommand({ Bucket }))).Policy).toBe(Policy);
      const { PolicyStatus } = await mine.send(new GetBucketPolicyStatusCommand({ Bucket }));
      expect(PolicyStatus?.IsPublic).toBe(true);
      await mine.send(new DeleteBucketPolicyCommand({ Bucket }));
      expect(await catchRefusal(mine.send(new GetBucketPolicyCommand({ Bucket })))).toEqual({
        code: 'NoSuchBucketPolicy',
        status: 404,
      });
    });

    it('make a bucket public', async () => {
      await policy(allowGet());
      expect(await anonymous()).toBe(200);
      expect(await anonymous('absent')).toBe(403);
      await policy(allowGet(), allowGet({ Action: 's3:ListBucket', Resource: `arn:aws:s3:::${Bucket}` }));
      expect(await anonymous('absent')).toBe(404);
    });

    it('evaluate the tags of an object', async () => {
      await policy(allowGet({ Condition: { StringEquals: { 's3:ExistingObjectTag/level': 'public' } } }));
      expect(await anonymous()).toBe(403);
      const Tagging = { TagSet: [{ Key: 'level', Value: 'public' }] };
      await mine.send(new PutObjectTaggingCommand({ Bucket, Key: 'a', Tagging }));
      expect(await anonymous()).toBe(200);
    });

    it('cannot be bypassed with an ACL header on an upload', async () => {
      const everything = allowGet({ Action: 's3:PutObject', Principal: { AWS: abroad } });
      await policy(everything, { ...everything, Effect: 'Deny', Action: 's3:PutObjectAcl' });
      await theirs.send(new PutObjectCommand({ Bucket, Key: 'b', Body: 'x' }));
      const open = new PutObjectCommand({ Bucket, Key: 'b', Body: 'x', ACL: 'public-read' });
      expect(await catchRefusal(theirs.send(open))).toEqual(DENIED);
    });

    it('are rejected when too long, empty or invalid, and change nothing', async () => {
      const put = (body: string) => send({ method: 'PUT', target: `/${Bucket}?policy`, body });
      const long = JSON.stringify({ Statement: [allowGet({ Sid: 'x'.repeat(21 * 1024) })] });
      expect((await put(long)).code).toBe('MalformedPolicy');
      expect((await put('')).code).toBe('MissingRequestBodyError');
      expect((await put(JSON.stringify({ Statement: [allowGet({ Effect: 'Maybe' })] }))).code).toBe('MalformedPolicy');
      expect((await send({ target: `/${Bucket}?policy` })).code).toBe('NoSuchBucketPolicy');
    });
  });

  describe('the public access block', () => {
    const block = (PublicAccessBlockConfiguration: object) =>
      mine.send(new PutPublicAccessBlockCommand({ Bucket, PublicAccessBlockConfiguration }));

    it('blocks new public access, ignores existing public ACLs, and restricts public buckets', async () => {
      await mine.send(new PutObjectAclCommand({ Bucket, Key: 'a', ACL: 'public-read' }));
      await block({ BlockPublicAcls: true, BlockPublicPolicy: true });
      expect(await anonymous()).toBe(200);
      const open = new PutObjectAclCommand({ Bucket, Key: 'a', ACL: 'public-read' });
      expect(await catchRefusal(mine.send(open))).toEqual(DENIED);
      const put = new PutObjectCommand({ Bucket, Key: 'b', Body: 'x', ACL: 'authenticated-read' });
      expect(await catchRefusal(mine.send(put))).toEqual(DENIED);
      expect(await catchRefusal(policy(allowGet()))).toEqual(DENIED);
      await block({ IgnorePublicAcls: true });
      expect(await anonymous()).toBe(403);
      await policy(allowGet());
      expect(await anonymous()).toBe(200);
      await block({ RestrictPublicBuckets: true });
      expect(await anonymous()).toBe(403);
      await mine.send(new GetObjectCommand({ Bucket, Key: 'a' }));
    });

    it('overrides the publicDefault setting of a bucket', async () => {
      const bucket = await store.metadata.findBucket({ name: Bucket });
      const document = JSON.stringify({ publicDefault: true });
      await store.metadata.putBucketDocument({ bucketId: bucket?.id ?? 0, name: 'settings', document, nowMs: 0 });
      expect(await anonymous()).toBe(200);
      expect((await sendRaw(store.endpoint, { target: `/${Bucket}` })).status).toBe(403);
      await block({ IgnorePublicAcls: true });
      expect(await anonymous()).toBe(403);
    });
  });

  describe('ownership', () => {
    const own = (ObjectOwnership: 'BucketOwnerEnforced' | 'BucketOwnerPreferred' | 'ObjectWriter') =>
      mine.send(new PutBucketOwnershipControlsCommand({ Bucket, OwnershipControls: { Rules: [{ ObjectOwnership }] } }));

    it('BucketOwnerEnforced disables ACLs, including those of earlier objects', async () => {
      await mine.send(new PutBucketAclCommand({ Bucket, ACL: 'public-read-write' }));
      await theirs.send(new PutObjectCommand({ Bucket, Key: 'b', Body: 'theirs', ACL: 'public-read' }));
      expect(await catchRefusal(own('BucketOwnerEnforced'))).toEqual({
        code: 'InvalidBucketAclWithObjectOwnership',
        status: 400,
      });
      await mine.send(new PutBucketAclCommand({ Bucket, ACL: 'private' }));
      await own('BucketOwnerEnforced');
      await mine.send(new GetObjectCommand({ Bucket, Key: 'b' }));
      expect(await anonymous('b')).toBe(403);
      expect(await catchRefusal(theirs.send(new GetObjectCommand({ Bucket, Key: 'b' })))).toEqual(DENIED);
      const acl = new PutObjectAclCommand({ Bucket, Key: 'b', ACL: 'public-read' });
      expect(await catchRefusal(mine.send(acl))).toEqual({ code: 'AccessControlListNotSupported', status: 400 });
    });

    it('BucketOwnerPreferred takes ownership of objects uploaded with bucket-owner-full-control', async () => {
      await own('BucketOwnerPreferred');
      await policy(allowGet({ Action: 's3:PutObject', Principal: { AWS: abroad } }));
      await theirs.send(new PutObjectCommand({ Bucket, Key: 'kept', Body: 'x' }));
      await theirs.send(new PutObjectCommand({ Bucket, Key: 'given', Body: 'x', ACL: 'bucket-owner-full-control' }));
      expect(await catchRefusal(mine.send(new GetObjectCommand({ Bucket, Key: 'kept' })))).toEqual(DENIED);
      expect((await mine.send(new GetObjectAclCommand({ Bucket, Key: 'given' }))).Owner?.ID).toBe(owner.id);
    });

    it('assigns anonymous uploads to the bucket owner', async () => {
      await mine.send(new PutBucketAclCommand({ Bucket, ACL: 'public-read-write' }));
      const body = { method: 'PUT', target: `/${Bucket}/b`, body: 'x' };
      expect((await sendRaw(store.endpoint, body)).status).toBe(200);
      expect((await mine.send(new GetObjectAclCommand({ Bucket, Key: 'b' }))).Owner?.ID).toBe(owner.id);
    });
  });

  it('rejects a request whose x-amz-expected-bucket-owner does not match', async () => {
    const ask = (ExpectedBucketOwner: string) =>
      catchRefusal(mine.send(new HeadObjectCommand({ Bucket, Key: 'a', ExpectedBucketOwner })));
    expect(await ask(owner.id)).toMatchObject({ code: 'none' });
    expect(await ask(home)).toMatchObject({ code: 'none' });
    expect((await ask(guest.id)).status).toBe(403);
    expect((await ask('123456789012')).status).toBe(403);
  });
});
