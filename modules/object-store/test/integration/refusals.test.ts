import { randomBytes, randomUUID } from 'node:crypto';
import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { fakeClock } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startClientStore, type ClientStore } from '../support/client-store.ts';
import { sendRaw, signed, type RawAnswer, type RawRequest, type SigningOptions } from '../support/raw-request.ts';
import type { TestKey } from '../support/running-store.ts';

const MINUTE_MS = 60_000;

describe('authorization on the S3 plane', () => {
  const clock = fakeClock('2026-03-01T12:00:00.000Z');
  const workspaceUuid = randomUUID();
  let store: ClientStore;
  let admin: TestKey;
  let client: S3Client;

  beforeAll(async () => {
    store = await startClientStore({ workspaceUuid, clock });
    ({ client, key: admin } = store);
    for (const bucket of ['alpha', 'beta'])
      await expect(send({ method: 'PUT', target: `/${bucket}` })).resolves.toMatchObject({ status: 200 });
    await send({ method: 'PUT', target: '/alpha/object', body: 'content' });
  });
  afterAll(async () => {
    await store.close();
  });

  function send(raw: RawRequest, options: Partial<SigningOptions> = {}): Promise<RawAnswer> {
    const host = new URL(store.endpoint).host;
    return sendRaw(store.endpoint, signed(raw, { key: admin, nowMs: clock.nowMs(), host, ...options }));
  }
  const refused = (answer: RawAnswer) => ({ status: answer.status, code: answer.code });
  const get: RawRequest = { target: '/alpha/object' };

  describe('signatures', () => {
    it('accepts a valid signature under each region name', async () => {
      for (const region of ['auto', 'us-east-1', '']) expect((await send(get, { region })).status).toBe(200);
    });

    it('refuses an unsigned request', async () => {
      const answer = await sendRaw(store.endpoint, get);
      expect(refused(answer)).toEqual({ status: 403, code: 'AccessDenied' });
      expect(answer.headers['content-type']).toBe('application/xml');
      const body = answer.body.toString();
      expect(body).toMatch(/^<\?xml version="1.0" encoding="UTF-8"\?>\n<Error><Code>AccessDenied<\/Code><Message>/);
      expect(body).toContain(`<RequestId>${String(answer.headers['x-amz-request-id'])}</RequestId>`);
      expect(body).toContain('<Resource>/alpha/object</Resource>');
      expect(answer.headers['x-request-id']).toBe(answer.headers['x-amz-request-id']);
    });

    it.each<[string, Partial<SigningOptions> | (() => Partial<SigningOptions>), number, string]>([
      ['a wrong secret', () => ({ key: { ...admin, secretAccessKey: 'tsec_wrong' } }), 403, 'SignatureDoesNotMatch'],
      ['an unknown key', () => ({ key: { ...admin, accessKeyId: 'tid_unknown' } }), 403, 'InvalidAccessKeyId'],
      ['another region', { region: 'eu-central-1' }, 400, 'AuthorizationHeaderMalformed'],
      ['a clock that is behind', () => ({ nowMs: clock.nowMs() - 16 * MINUTE_MS }), 403, 'RequestTimeTooSkewed'],
      ['a clock that is ahead', () => ({ nowMs: clock.nowMs() + 16 * MINUTE_MS }), 403, 'RequestTimeTooSkewed'],
      ['a host outside the signature', { unsigned: ['host'] }, 403, 'AccessDenied'],
      ['a payload hash outside the signature', { unsigned: ['x-amz-content-sha256'] }, 403, 'AccessDenied'],
      ['a payload hash of no known kind', { payloadHash: 'something' }, 400, 'InvalidArgument'],
      [
        'chunks signed by an elliptic curve',
        { payloadHash: 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD' },
        501,
        'NotImplemented',
      ],
    ])('refuses %s', async (_what, options, status, code) => {
      const given = typeof options === 'function' ? options() : options;
      expect(refused(await send(get, given))).toEqual({ status, code });
    });

    it('accepts a clock within fifteen minutes', async () => {
      for (const minutes of [-14, 14]) {
        expect((await send(get, { nowMs: clock.nowMs() + minutes * MINUTE_MS })).status).toBe(200);
      }
    });

    it('refuses a request that was changed or extended after signing', async () => {
      const host = new URL(store.endpoint).host;
      const right = signed(get, { key: admin, nowMs: clock.nowMs(), host });
      const change = (changed: Partial<RawRequest>) => sendRaw(store.endpoint, { ...right, ...changed }).then(refused);
      const mismatch = { status: 403, code: 'SignatureDoesNotMatch' };
      expect(await change({ target: '/alpha/other' })).toEqual(mismatch);
      expect(await change({ target: '/alpha/object?versionId=null' })).toEqual(mismatch);
      expect(await change({ method: 'DELETE' })).toEqual(mismatch);
      expect(await change({ headers: { ...right.headers, host: 'elsewhere' } })).toEqual(mismatch);
      const added = { ...right.headers, 'x-amz-meta-source': '/alpha/object' };
      expect(await change({ headers: added })).toEqual({ status: 403, code: 'AccessDenied' });
      const { 'x-amz-date': _, ...withoutDate } = right.headers ?? {};
      expect((await change({ headers: withoutDate })).status).toBe(403);
    });

    it.each([
      ['of version 2', 'AWS tid_x:c2lnbmF0dXJl', 400, 'InvalidRequest'],
      ['of another scheme', 'Bearer token', 400, 'InvalidArgument'],
      ['of one word', 'AWS4-HMAC-SHA256', 400, 'InvalidArgument'],
      ['without parts', 'AWS4-HMAC-SHA256 nothing', 400, 'AuthorizationHeaderMalformed'],
      [
        'with a malformed credential',
        'AWS4-HMAC-SHA256 Credential=x, SignedHeaders=host, Signature=y',
        400,
        'AuthorizationHeaderMalformed',
      ],
      [
        'for another service',
        'AWS4-HMAC-SHA256 Credential=x/20260301/auto/ec2/aws4_request, SignedHeaders=host, Signature=y',
        400,
        'AuthorizationHeaderMalformed',
      ],
      [
        'of another day',
        'AWS4-HMAC-SHA256 Credential=x/20260228/auto/s3/aws4_request, SignedHeaders=host, Signature=y',
        400,
        'AuthorizationHeaderMalformed',
      ],
    ])('refuses an Authorization header %s', async (_what, authorization, status, code) => {
      const headers = { authorization, 'x-amz-date': '20260301T120000Z' };
      expect(refused(await sendRaw(store.endpoint, { ...get, headers }))).toEqual({ status, code });
    });

    it('accepts a path sent less encoded than it was signed', async () => {
      await send({ method: 'PUT', target: '/alpha/%28a%29', body: 'x' });
      const host = new URL(store.endpoint).host;
      const request = signed({ target: '/alpha/%28a%29' }, { key: admin, nowMs: clock.nowMs(), host });
      expect((await sendRaw(store.endpoint, { ...request, target: '/alpha/(a)' })).status).toBe(200);
    });
  });

  describe('presigned URLs', () => {
    const presign = async (expiresIn: number, signingDate = clock.now()): Promise<string> => {
      const command = new GetObjectCommand({ Bucket: 'alpha', Key: 'object' });
      return await getSignedUrl(client, command, { expiresIn, signingDate });
    };
    const fetchUrl = async (url: string, extra: RawRequest = { target: '' }) => {
      const { pathname, search, host } = new URL(url);
      return await sendRaw(store.endpoint, { headers: { host }, ...extra, target: pathname + search });
    };

    it('work until they expire', async () => {
      const url = await presign(60);
      expect((await fetchUrl(url)).body.toString()).toBe('content');
      await clock.advance(61_000);
      expect(refused(await fetchUrl(url))).toEqual({ status: 403, code: 'AccessDenied' });
      expect((await fetchUrl(url)).body.toString()).toContain('Request has expired');
    });

    it('are refused when changed, for another method, valid too long, from the future or signed twice', async () => {
      const url = await presign(60);
      const longer = url.replace('X-Amz-Expires=60', 'X-Amz-Expires=600');
      expect(refused(await fetchUrl(longer))).toEqual({ status: 403, code: 'SignatureDoesNotMatch' });
      expect(refused(await fetchUrl(url, { method: 'DELETE', target: '' }))).toEqual({
        status: 403,
        code: 'SignatureDoesNotMatch',
      });
      expect(refused(await fetchUrl(url.replace('X-Amz-Expires=60', 'X-Amz-Expires=700000')))).toMatchObject({
        status: 400,
      });
      expect(refused(await fetchUrl(url.replace('X-Amz-Expires=60', 'X-Amz-Expires=x')))).toMatchObject({
        status: 400,
      });
      expect(refused(await fetchUrl(url.replace('&X-Amz-Expires=60', '')))).toMatchObject({ status: 400 });
      const tomorrow = await presign(60, new Date(clock.nowMs() + 24 * 60 * MINUTE_MS));
      expect(refused(await fetchUrl(tomorrow))).toEqual({ status: 403, code: 'AccessDenied' });
      const headers = {
        host: new URL(url).host,
        authorization: 'AWS4-HMAC-SHA256 Credential=x, SignedHeaders=host, Signature=y',
      };
      expect(refused(await fetchUrl(url, { headers, target: '' }))).toEqual({ status: 400, code: 'InvalidArgument' });
      const unsignedHeader = { host: new URL(url).host, 'x-amz-meta-a': 'b' };
      expect(refused(await fetchUrl(url, { headers: unsignedHeader, target: '' }))).toEqual({
        status: 403,
        code: 'AccessDenied',
      });
    });

    it('take precedence over an Authorization header that is not for S3', async () => {
      const url = await presign(60);
      const headers = { host: new URL(url).host, authorization: 'Basic dTpw' };
      expect((await fetchUrl(url, { headers, target: '' })).status).toBe(200);
    });
  });

  describe('keys', () => {
    const operations: Record<string, RawRequest> = {
      read: { target: '/alpha/object' },
      list: { target: '/alpha?list-type=2' },
      write: { method: 'PUT', target: '/alpha/written', body: 'x' },
      remove: { method: 'DELETE', target: '/alpha/absent' },
      elsewhere: { target: '/beta?list-type=2' },
      create: { method: 'PUT', target: '/gamma' },
      destroy: { method: 'DELETE', target: '/delta' },
    };
    it.each<[string, { permissions: ('read' | 'write' | 'admin')[]; buckets: string[] | null }, string[]]>([
      [
        'admin of all',
        { permissions: ['admin'], buckets: null },
        ['read', 'list', 'write', 'remove', 'elsewhere', 'create', 'destroy'],
      ],
      [
        'read and write on all',
        { permissions: ['read', 'write'], buckets: null },
        ['read', 'list', 'write', 'remove', 'elsewhere', 'create'],
      ],
      ['read on all', { permissions: ['read'], buckets: null }, ['read', 'list', 'elsewhere']],
      ['write on all', { permissions: ['write'], buckets: null }, ['write', 'remove', 'create']],
      ['Editor of one', { permissions: ['read', 'write'], buckets: ['alpha'] }, ['read', 'list', 'write', 'remove']],
      ['ReadOnly on one', { permissions: ['read'], buckets: ['alpha'] }, ['read', 'list']],
    ])('with the scope "%s" allow only its operations', async (_name, scope, allowed) => {
      const key = await store.createKey({ workspaceUuid, ...scope });
      for (const [name, request] of Object.entries(operations)) {
        const answer = await send(request, { key });
        const verdict = answer.status === 403 ? answer.code : 'allowed';
        expect([name, verdict]).toEqual([
          name,
          allowed.includes(name) || (name === 'destroy' && answer.status === 404) ? 'allowed' : 'AccessDenied',
        ]);
      }
      await send({ method: 'DELETE', target: '/gamma' });
    });

    it('of another workspace have no access here, and cannot claim a taken name', async () => {
      const key = await store.createKey({ workspaceUuid: randomUUID() });
      for (const request of [operations['read'], operations['list'], operations['write'], operations['remove']]) {
        expect(refused(await send(request ?? get, { key }))).toEqual({ status: 403, code: 'AccessDenied' });
      }
      expect(refused(await send({ method: 'PUT', target: '/alpha' }, { key }))).toEqual({
        status: 409,
        code: 'BucketAlreadyExists',
      });
      const { body } = await send({ target: '/' }, { key });
      expect(body.toString()).not.toContain('alpha');
    });

    it('for named buckets list only those', async () => {
      const key = await store.createKey({ workspaceUuid, buckets: ['beta'] });
      const { body } = await send({ target: '/' }, { key });
      expect(body.toString()).toContain('<Name>beta</Name>');
      expect(body.toString()).not.toContain('alpha');
    });

    it('fail within a second of being revoked, and when they expire', async () => {
      const expiring = await store.createKey({ workspaceUuid, expiresAtMs: clock.nowMs() + 10_000 });
      const revoked = await store.createKey({ workspaceUuid });
      for (const key of [expiring, revoked]) expect((await send(get, { key })).status).toBe(200);
      await store.metadata.deleteAccessKey({ workspaceUuid, accessKeyId: revoked.accessKeyId });
      await clock.advance(1_000);
      expect(refused(await send(get, { key: revoked }))).toEqual({ status: 403, code: 'InvalidAccessKeyId' });
      await clock.advance(10_000);
      expect(refused(await send(get, { key: expiring }))).toEqual({ status: 403, code: 'InvalidAccessKeyId' });
    });

    it('are refused with a session token, which this store never issues', async () => {
      const answer = await send({ ...get, headers: { 'x-amz-security-token': randomBytes(8).toString('hex') } });
      expect(refused(answer)).toEqual({ status: 400, code: 'InvalidToken' });
    });
  });

  describe('unsupported requests', () => {
    it.each<[string, RawRequest]>([
      ['GetBucketReplication', { target: '/alpha?replication' }],
      ['GetObjectTorrent', { target: '/alpha/object?torrent' }],
      ['RestoreObject', { method: 'POST', target: '/alpha/object?restore' }],
      ['SelectObjectContent', { method: 'POST', target: '/alpha/object?select' }],
    ])('%s returns 501 with its name', async (name, request) => {
      const answer = await send(request);
      expect(refused(answer)).toEqual({ status: 501, code: 'NotImplemented' });
      expect(answer.body.toString()).toContain(`<Operation>${name}</Operation>`);
    });

    it('return 405 for a method S3 does not have, and 400 for a malformed path', async () => {
      expect(refused(await send({ method: 'PATCH', target: '/alpha/object' }))).toEqual({
        status: 405,
        code: 'MethodNotAllowed',
      });
      expect(refused(await send({ method: 'POST', target: '/alpha/object' }))).toEqual({
        status: 405,
        code: 'MethodNotAllowed',
      });
      expect(refused(await sendRaw(store.endpoint, { target: '/alpha/%zz' }))).toEqual({
        status: 400,
        code: 'InvalidURI',
      });
      expect(refused(await sendRaw(store.endpoint, { target: '/alpha/%ff' }))).toEqual({
        status: 400,
        code: 'InvalidURI',
      });
      expect(refused(await send({ target: `/alpha/${'k'.repeat(1_025)}` }))).toEqual({
        status: 400,
        code: 'KeyTooLongError',
      });
      expect(refused(await send({ target: '/alpha/%00' }))).toEqual({ status: 400, code: 'InvalidArgument' });
      expect(refused(await send({ method: 'PUT', target: '/Upper_Case' }))).toEqual({
        status: 400,
        code: 'InvalidBucketName',
      });
    });
  });
});
