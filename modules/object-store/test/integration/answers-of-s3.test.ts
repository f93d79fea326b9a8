import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  GetBucketTaggingCommand,
  GetObjectCommand,
  GetObjectLegalHoldCommand,
  HeadObjectCommand,
  PutBucketAclCommand,
  PutBucketCorsCommand,
  PutBucketOwnershipControlsCommand,
  PutBucketPolicyCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  PutObjectRetentionCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
  type ChecksumAlgorithm,
  type CompletedPart,
  type S3Client,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startClientStore, type ClientStore } from '../support/client-store.ts';
import { sendRaw, signed, type RawAnswer, type RawRequest } from '../support/raw-request.ts';
import type { TestKey } from '../support/running-store.ts';
import { catchRefusal } from '../support/s3-client.ts';

const Bucket = 'answers';
const MiB = 1024 * 1024;

describe('S3 response compatibility', () => {
  let store: ClientStore;
  let client: S3Client;
  let key: TestKey;

  beforeAll(async () => {
    store = await startClientStore({ bucket: Bucket, client: { requestChecksumCalculation: 'WHEN_REQUIRED' } });
    ({ client, key } = store);
    await client.send(new PutObjectCommand({ Bucket, Key: 'object', Body: '0123456789' }));
  });
  afterAll(async () => {
    await store.close();
  });

  const anonymously = (raw: RawRequest): Promise<RawAnswer> => sendRaw(store.endpoint, raw);
  const send = (raw: RawRequest): Promise<RawAnswer> =>
    sendRaw(store.endpoint, signed(raw, { key, host: new URL(store.endpoint).host }));
  const textOf = (answer: RawAnswer): string => answer.body.toString();

  it('tags a new bucket from its configuration, and creates none with invalid tags', async () => {
    const make = (name: string, Tags: { Key: string; Value: string }[]) =>
      client.send(new CreateBucketCommand({ Bucket: name, CreateBucketConfiguration: { Tags } }));
    await make('tagged', [{ Key: 'team', Value: 'blue' }]);
    const { TagSet } = await client.send(new GetBucketTaggingCommand({ Bucket: 'tagged' }));
    expect(TagSet).toEqual([{ Key: 'team', Value: 'blue' }]);
    const many = Array.from({ length: 51 }, (_, index) => ({ Key: `k${index}`, Value: '' }));
    expect(await catchRefusal(make('over-tagged', many))).toMatchObject({ code: 'BadRequest' });
    const twice = [
      { Key: 'k', Value: '1' },
      { Key: 'k', Value: '2' },
    ];
    expect(await catchRefusal(make('over-tagged', twice))).toMatchObject({ code: 'InvalidTag' });
    expect((await send({ method: 'HEAD', target: '/over-tagged' })).status).toBe(404);
  });

  it.each<ChecksumAlgorithm>(['MD5', 'SHA512', 'XXHASH64', 'XXHASH3', 'XXHASH128'])(
    'stores a %s checksum with an object, and rejects a wrong value',
    async (algorithm) => {
      const header = `x-amz-checksum-${algorithm.toLowerCase()}`;
      const put = (value: string): Promise<RawAnswer> =>
        send({ method: 'PUT', target: `/${Bucket}/with-${header}`, headers: { [header]: value }, body: '0123456789' });
      const wrong = await put(Buffer.alloc(8, 1).toString('base64'));
      expect(wrong).toMatchObject({ status: 400, code: 'BadDigest' });
      const calculated = /<CalculatedDigest>(.+)<\/CalculatedDigest>/.exec(textOf(wrong))?.[1] ?? '';
      expect(await put(calculated)).toMatchObject({ status: 200, headers: { [header]: calculated } });
      const asked = {
        method: 'HEAD',
        target: `/${Bucket}/with-${header}`,
        headers: { 'x-amz-checksum-mode': 'ENABLED' },
      };
      expect((await send(asked)).headers[header]).toBe(calculated);
    },
  );

  it('rejects a checksum with an unknown algorithm, which it cannot verify', async () => {
    const headers = { 'x-amz-checksum-blake3': 'AAAA' };
    const answer = await send({ method: 'PUT', target: `/${Bucket}/unknown`, headers, body: 'x' });
    expect(answer).toMatchObject({ status: 400, code: 'InvalidRequest' });
  });

  it.each<ChecksumAlgorithm>(['SHA512', 'XXHASH3'])(
    'computes the composite %s of an upload from its part checksums, which are required',
    async (ChecksumAlgorithm) => {
      const Key = `composite-${ChecksumAlgorithm}`;
      const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key, ChecksumAlgorithm }));
      const name = { Bucket, Key, UploadId };
      const bare = client.send(new UploadPartCommand({ ...name, PartNumber: 1, Body: 'x' }));
      expect(await catchRefusal(bare)).toEqual({ code: 'InvalidRequest', status: 400 });
      const field = `Checksum${ChecksumAlgorithm}` as const;
      const parts: CompletedPart[] = [];
      for (const [index, text] of ['a'.repeat(5 * MiB), 'b'].entries()) {
        const PartNumber = index + 1;
        const header = `x-amz-checksum-${ChecksumAlgorithm.toLowerCase()}`;
        const target = `/${Bucket}/${Key}?partNumber=${PartNumber}&uploadId=${UploadId}`;
        const put = (value: string): Promise<RawAnswer> =>
          send({ method: 'PUT', target, headers: { [header]: value }, body: text });
        const value = /<CalculatedDigest>(.+)<\/CalculatedDigest>/.exec(textOf(await put('AAAA')))?.[1] ?? '';
        const { headers } = await put(value);
        parts.push({ PartNumber, ETag: String(headers['etag']), [field]: value });
      }
      const complete = (Parts: CompletedPart[]) =>
        client.send(new CompleteMultipartUploadCommand({ ...name, MultipartUpload: { Parts } }));
      const ofAnother = parts.map(({ PartNumber, ETag }) => ({ PartNumber, ETag, ChecksumCRC32: 'AAAAAA==' }));
      expect(await catchRefusal(complete(ofAnother))).toEqual({ code: 'BadDigest', status: 400 });
      // A part without a checksum here keeps the one it was uploaded with.
      const completed = await complete(
        parts.map(({ [field]: value, ...part }, index) => (index === 0 ? part : { ...part, [field]: value })),
      );
      expect(completed[field]).toMatch(/^[\w+/]+=*-2$/);
      const head = await client.send(new HeadObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }));
      expect([head[field], head.ChecksumType]).toEqual([completed[field], 'COMPOSITE']);
    },
  );

  it('returns the checksum of a copied part if the upload uses checksums', async () => {
    const copyInto = async (Key: string, algorithm?: ChecksumAlgorithm) => {
      const name = { Bucket, Key, ...(algorithm === undefined ? {} : { ChecksumAlgorithm: algorithm }) };
      const { UploadId } = await client.send(new CreateMultipartUploadCommand(name));
      const part = { Bucket, Key, UploadId, PartNumber: 1, CopySource: `${Bucket}/object` };
      return (await client.send(new UploadPartCopyCommand(part))).CopyPartResult ?? {};
    };
    expect(Object.keys(await copyInto('copied-plain')).filter((name) => name.startsWith('Checksum'))).toEqual([]);
    expect(await copyInto('copied-summed', 'MD5')).toMatchObject({ ChecksumMD5: 'eB5eJF1ptWaXm4bijSPyxw==' });
  });

  it('rejects response header overrides on anonymous requests', async () => {
    await client.send(new CreateBucketCommand({ Bucket: 'shown', ACL: 'public-read' }));
    await client.send(new PutObjectCommand({ Bucket: 'shown', Key: 'page', Body: 'x', ACL: 'public-read' }));
    expect((await anonymously({ target: '/shown/page' })).status).toBe(200);
    const chosen = await anonymously({ target: '/shown/page?response-content-type=text%2Fhtml' });
    expect(chosen).toMatchObject({ status: 400, code: 'InvalidRequest' });
    const asOwner = new GetObjectCommand({ Bucket: 'shown', Key: 'page', ResponseContentType: 'text/html' });
    expect((await client.send(asOwner)).ContentType).toBe('text/html');
  });

  it.each(['\u0001', '\r\n', '\0', '\u007F'])('rejects %j in a response header override', async (character) => {
    await client.send(new PutObjectCommand({ Bucket, Key: 'plain', Body: 'x' }));
    const get = (ResponseCacheControl: string) =>
      client.send(new GetObjectCommand({ Bucket, Key: 'plain', ResponseCacheControl }));
    expect(await catchRefusal(get(`a${character}b`))).toEqual({ code: 'InvalidArgument', status: 400 });
    expect((await get('a\tb')).CacheControl).toBe('a\tb');
  });

  it.each<[what: string, raw: RawRequest, code: string]>([
    ['uploads of a key', { target: '/none/key?uploads' }, 'InvalidRequest'],
    ['versions of a key', { target: '/none/key?versions' }, 'InvalidRequest'],
    ['a part of no upload', { method: 'PUT', target: '/none/key?partNumber=1' }, 'InvalidArgument'],
    ['an upload without a part', { method: 'PUT', target: '/none/key?uploadId=u' }, 'MethodNotAllowed'],
    ['a copy that is read', { target: '/none/key', headers: { 'x-amz-copy-source': '/a/b' } }, 'InvalidArgument'],
    ['a form for the service', { method: 'POST', target: '/' }, 'MethodNotAllowed'],
  ])('rejects %s before looking anything up', async (_what, raw, code) => {
    expect((await anonymously(raw)).code).toBe(code);
  });

  it('names the unsupported operation next to the standard S3 message', async () => {
    const answer = await send({ target: `/${Bucket}?replication` });
    expect(answer).toMatchObject({ status: 501, code: 'NotImplemented' });
    expect(textOf(answer)).toContain('<Operation>GetBucketReplication</Operation>');
    expect(textOf(answer)).toContain('implies functionality that is not implemented.</Message>');
  });

  it('says that all versions of a versioned bucket must be deleted first', async () => {
    await client.send(new CreateBucketCommand({ Bucket: 'full' }));
    await client.send(new PutObjectCommand({ Bucket: 'full', Key: 'k', Body: 'x' }));
    const remove = () => client.send(new DeleteBucketCommand({ Bucket: 'full' }));
    await expect(remove()).rejects.toThrow('The bucket you tried to delete is not empty.');
    const VersioningConfiguration = { Status: 'Enabled' } as const;
    await client.send(new PutBucketVersioningCommand({ Bucket: 'full', VersioningConfiguration }));
    await expect(remove()).rejects.toThrow('You must delete all versions in the bucket.');
  });

  it('validates object lock headers before checking whether the bucket has object lock', async () => {
    const put = (headers: Record<string, string>): Promise<RawAnswer> =>
      send({ method: 'PUT', target: `/${Bucket}/locked`, headers, body: 'x' });
    const mode = { 'x-amz-object-lock-mode': 'GOVERNANCE' };
    const until = (date: string) => ({ ...mode, 'x-amz-object-lock-retain-until-date': date });
    expect(await put(mode)).toMatchObject({ code: 'InvalidArgument' });
    expect(await put(until('2001-01-01T00:00:00Z'))).toMatchObject({ code: 'InvalidArgument' });
    expect(textOf(await put({ 'x-amz-object-lock-legal-hold': 'maybe' }))).toContain(
      '<ArgumentName>x-amz-object-lock-legal-hold</ArgumentName><ArgumentValue>maybe</ArgumentValue>',
    );
    expect(await put(until('2100-01-01T00:00:00Z'))).toMatchObject({ code: 'InvalidRequest' });
    const past = { Mode: 'GOVERNANCE', RetainUntilDate: new Date(0) } as const;
    const retain = new PutObjectRetentionCommand({ Bucket, Key: 'object', Retention: past });
    expect(await catchRefusal(client.send(retain))).toMatchObject({ code: 'InvalidArgument' });
    const missing = new GetObjectLegalHoldCommand({ Bucket, Key: 'no-such-object' });
    expect(await catchRefusal(client.send(missing))).toMatchObject({ code: 'NoSuchKey' });
  });

  it('accepts an ACL from one source only, and rejects several before parsing grantees', async () => {
    await client.send(new CreateBucketCommand({ Bucket: 'listed' }));
    const OwnershipControls = { Rules: [{ ObjectOwnership: 'BucketOwnerPreferred' as const }] };
    await client.send(new PutBucketOwnershipControlsCommand({ Bucket: 'listed', OwnershipControls }));
    const both = new PutBucketAclCommand({ Bucket: 'listed', ACL: 'private', GrantRead: 'nobody' });
    expect(await catchRefusal(client.send(both))).toMatchObject({ code: 'InvalidRequest' });
    const headers = { 'x-amz-grant-read': 'nobody' };
    const body = '<AccessControlPolicy><Owner/><AccessControlList/></AccessControlPolicy>';
    const answer = await send({ method: 'PUT', target: '/listed?acl', headers, body });
    expect(answer).toMatchObject({ code: 'UnexpectedContent' });
  });

  it.each([
    ['a mistyped key of IAM', { StringEquals: { 'aws:SourceAddress': 'x' } }],
    ['an address that is none, whatever compares it', { StringEquals: { 'aws:SourceIp': 'everywhere' } }],
  ])('rejects a policy with %s, which could never match', async (_what, Condition) => {
    const Resource = `arn:aws:s3:::${Bucket}/*`;
    const statement = { Effect: 'Deny', Principal: '*', Action: 's3:GetObject', Resource, Condition };
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
    const put = client.send(new PutBucketPolicyCommand({ Bucket, Policy }));
    expect(await catchRefusal(put)).toEqual({ code: 'MalformedPolicy', status: 400 });
  });

  it('accepts only header names in CORS rules, and rejects invalid preflights', async () => {
    const put = (rule: { AllowedHeaders?: string[]; ExposeHeaders?: string[]; MaxAgeSeconds?: number }) => {
      const CORSRules = [{ AllowedOrigins: ['*'], AllowedMethods: ['GET'], ...rule }];
      return client.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules } }));
    };
    expect(await catchRefusal(put({ AllowedHeaders: ['a b'] }))).toMatchObject({ code: 'InvalidRequest' });
    expect(await catchRefusal(put({ ExposeHeaders: ['a/b'] }))).toMatchObject({ code: 'InvalidRequest' });
    await put({ AllowedHeaders: ['x-*'], MaxAgeSeconds: -1 });
    const ask = (method: string, names: string): Promise<RawAnswer> =>
      anonymously({
        method: 'OPTIONS',
        target: `/${Bucket}/object`,
        headers: {
          origin: 'https://a.example',
          'access-control-request-method': method,
          'access-control-request-headers': names,
        },
      });
    expect((await ask('GET', 'x-a, x-b')).status).toBe(200);
    expect(await ask('GET', 'x-a, x(b)')).toMatchObject({ status: 400, code: 'BadRequest' });
    expect(await ask('PATCH', 'x-a')).toMatchObject({ status: 400, code: 'BadRequest' });
  });

  it.each([
    ['max-buckets=0', '/?max-buckets=0', 'between 1 and 10000'],
    ['max-keys=-5', `/${Bucket}?max-keys=-5`, 'between 0 and 2147483647'],
    ['max-keys=many', `/${Bucket}?max-keys=many`, 'not an integer'],
  ])('explains why %s is invalid', async (_what, target, sentence) => {
    const answer = await send({ target });
    expect(answer).toMatchObject({ status: 400, code: 'InvalidArgument' });
    expect(textOf(answer)).toContain(sentence);
  });

  it('rejects a streaming body for a document, which S3 allows only for objects', async () => {
    const headers = { 'x-amz-decoded-content-length': '5' };
    const raw = { method: 'PUT', target: `/${Bucket}?versioning`, headers, body: '5\r\nabcde\r\n0\r\n\r\n' };
    const options = { key, host: new URL(store.endpoint).host, payloadHash: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' };
    expect(await anonymously(signed(raw, options))).toMatchObject({ status: 400, code: 'InvalidRequest' });
  });
});
