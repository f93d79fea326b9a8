import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { waitFor, type FakeCaller } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sendRaw, signed, type RawAnswer, type RawRequest } from '../support/raw-request.ts';
import { startManagement, type RunningManagement } from '../support/running-management.ts';
import type { TestKey } from '../support/running-store.ts';

/** How long a replica may take to notice a change made elsewhere. */
const SEEN_AFTER_MS = 1_000;
/** Running requests are rechecked every two seconds. */
const CUT_AFTER_MS = 2_500;

describe('an access key and its creator', () => {
  let management: RunningManagement;
  let team: string;
  let member: FakeCaller;

  beforeEach(async () => {
    management = await startManagement();
    const { access, tenantId } = management;
    team = access.team(tenantId);
    member = access.user('member');
    access.join(team, member, 'member');
    await management.call('POST', '/buckets', { body: { name: 'alpha' } });
  });
  afterEach(() => management.close());

  const createKey = async (as: FakeCaller, body: object = {}, query = `?team_uuid=${team}`): Promise<TestKey> => {
    const made = await management.call('POST', `/keys${query}`, { as, body });
    expect(made.status).toBe(201);
    const { accessKeyId, secretAccessKey } = made.body.data;
    return { accessKeyId: String(accessKeyId), secretAccessKey: String(secretAccessKey) };
  };
  const sign = (raw: RawRequest, key: TestKey): RawRequest => {
    const { host } = new URL(management.store.endpoint);
    return signed(raw, { key, host, nowMs: management.clock.nowMs() });
  };
  const send = (raw: RawRequest, key: TestKey): Promise<RawAnswer> =>
    sendRaw(management.store.endpoint, sign(raw, key));
  const put = (key: TestKey): Promise<RawAnswer> => send({ method: 'PUT', target: '/alpha/object', body: 'x' }, key);
  const get = (key: TestKey): Promise<RawAnswer> => send({ target: '/alpha/object' }, key);
  const listed = async (as: FakeCaller = management.owner): Promise<Record<string, unknown>[]> =>
    (await management.call('GET', '/keys', { as })).body.data['keys'] as Record<string, unknown>[]; // its schema

  it('stops reading, writing, configuring and creating buckets when its creator is removed', async () => {
    const key = await createKey(member);
    expect([(await put(key)).status, (await get(key)).status]).toEqual([200, 200]);
    management.access.leave(team, member);
    await management.clock.advance(SEEN_AFTER_MS);
    const requests: RawRequest[] = [
      { target: '/alpha/object' },
      { method: 'PUT', target: '/alpha/object', body: 'y' },
      { method: 'PUT', target: '/alpha?policy', body: '{}' },
      { method: 'PUT', target: '/another-bucket' },
      { target: '/' },
    ];
    for (const request of requests) {
      expect((await send(request, key)).code).toBe('InvalidAccessKeyId');
    }
  });

  it('keeps reading but stops writing when its creator becomes a guest', async () => {
    const key = await createKey(member);
    await put(key);
    management.access.join(team, member, 'guest');
    await management.clock.advance(SEEN_AFTER_MS);
    expect((await get(key)).status).toBe(200);
    expect((await put(key)).code).toBe('AccessDenied');
    const [shown] = await listed();
    expect(shown).toMatchObject({ status: 'limited', effective_permissions: ['read'], created_by_name: 'member' });
    expect(shown?.['status_reason']).toBe('Its creator no longer has write access');
  });

  it('stops configuring when its creator is demoted from admin to member', async () => {
    management.access.join(team, member, 'admin');
    const key = await createKey(member, { permissions: ['read', 'write', 'admin'] });
    const versioning = {
      method: 'PUT',
      target: '/alpha?versioning',
      body: '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>',
    };
    expect((await send(versioning, key)).status).toBe(200);
    management.access.join(team, member, 'member');
    await management.clock.advance(SEEN_AFTER_MS);
    expect((await send(versioning, key)).code).toBe('AccessDenied');
    expect((await put(key)).status).toBe(200);
  });

  it('stops working with the service account or the token that created it', async () => {
    const account = management.access.serviceAccount(management.tenantId, ['write']);
    const key = await createKey(account, {}, '');
    expect((await put(key)).status).toBe(200);
    management.access.revoke(account);
    await management.clock.advance(SEEN_AFTER_MS);
    expect((await put(key)).code).toBe('InvalidAccessKeyId');
    const [shown] = await listed();
    expect(shown).toMatchObject({ status: 'suspended', effective_permissions: [], created_by_name: 'service account' });
  });

  it('works again when its creator returns', async () => {
    const key = await createKey(member);
    management.access.leave(team, member);
    await management.clock.advance(SEEN_AFTER_MS);
    expect((await put(key)).status).toBe(403);
    management.access.join(team, member, 'member');
    await management.clock.advance(SEEN_AFTER_MS);
    expect((await put(key)).status).toBe(200);
    expect(await listed()).toMatchObject([{ status: 'active', status_reason: null }]);
  });

  it('invalidates presigned URLs of the management API when their creator leaves', async () => {
    await put(await createKey(member));
    const body = { key: 'object', method: 'GET' };
    const answer = await management.call('POST', `/buckets/alpha/objects/presign?team_uuid=${team}`, {
      as: member,
      body,
    });
    const others = await management.call('POST', '/buckets/alpha/objects/presign', { body });
    const open = async (presigned: typeof answer): Promise<number> => {
      const { pathname, search } = new URL(String(presigned.body.data['url']));
      const { host } = new URL(management.store.endpoint);
      return (await sendRaw(management.store.endpoint, { target: pathname + search, headers: { host } })).status;
    };
    expect([await open(answer), await open(others)]).toEqual([200, 200]);
    management.access.leave(team, member);
    await management.clock.advance(SEEN_AFTER_MS);
    expect([await open(answer), await open(others)]).toEqual([403, 200]);
  });

  it('cannot complete its multipart uploads after its creator leaves', async () => {
    const key = await createKey(member);
    const begun = await send({ method: 'POST', target: '/alpha/large?uploads' }, key);
    const uploadId = /<UploadId>([^<]+)</.exec(begun.body.toString())?.[1] ?? '';
    const part = await send(
      { method: 'PUT', target: `/alpha/large?partNumber=1&uploadId=${uploadId}`, body: 'x' },
      key,
    );
    expect(part.status).toBe(200);
    management.access.leave(team, member);
    await management.clock.advance(SEEN_AFTER_MS);
    const parts = `<Part><PartNumber>1</PartNumber><ETag>${part.headers.etag ?? ''}</ETag></Part>`;
    const body = `<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`;
    const completed = await send({ method: 'POST', target: `/alpha/large?uploadId=${uploadId}`, body }, key);
    expect(completed.code).toBe('InvalidAccessKeyId');
  });

  describe('with a public multipart upload in progress', () => {
    const shared = { 'x-amz-acl': 'public-read' };

    const begin = async (key: TestKey, headers: Record<string, string>): Promise<{ target: string; body: string }> => {
      const begun = await send({ method: 'POST', target: '/alpha/large?uploads', headers }, key);
      const uploadId = /<UploadId>([^<]+)</.exec(begun.body.toString())?.[1] ?? '';
      const target = `/alpha/large?uploadId=${uploadId}`;
      const part = await send({ method: 'PUT', target: `${target}&partNumber=1`, body: 'x' }, key);
      const parts = `<Part><PartNumber>1</PartNumber><ETag>${part.headers.etag ?? ''}</ETag></Part>`;
      return { target, body: `<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>` };
    };
    const lower = async (): Promise<void> => {
      management.access.join(team, member, 'member');
      await management.clock.advance(SEEN_AFTER_MS);
    };
    const administrate = (): Promise<TestKey> => {
      management.access.join(team, member, 'admin');
      return createKey(member, { permissions: ['read', 'write', 'admin'] });
    };

    it('completes it only while it may make objects public', async () => {
      const key = await administrate();
      const upload = await begin(key, shared);
      const own = await begin(key, {});
      await lower();
      expect((await send({ method: 'POST', ...upload }, key)).code).toBe('AccessDenied');
      expect((await send({ target: '/alpha/large' }, key)).code).toBe('NoSuchKey');
      expect((await send({ method: 'POST', ...own }, key)).status).toBe(200);
      const owners = await createKey(management.owner, { permissions: ['admin'] }, '');
      expect((await send({ method: 'POST', ...upload }, owners)).status).toBe(200);
    });

    it('may repeat a completion after it loses the right to share', async () => {
      const key = await administrate();
      const upload = await begin(key, shared);
      expect((await send({ method: 'POST', ...upload }, key)).status).toBe(200);
      await lower();
      expect((await send({ method: 'POST', ...upload }, key)).status).toBe(200);
    });

    it('is held to the same rule by the management API', async () => {
      const path = '/buckets/alpha/objects/multipart';
      const query = `?team_uuid=${team}`;
      management.access.join(team, member, 'admin');
      const body = { key: 'large', public: true };
      const begun = await management.call('POST', path + query, { as: member, body });
      const upload = `${path}/${String(begun.body.data['uploadId'])}`;
      const headers = { 'content-type': 'application/octet-stream' };
      const bytes = Buffer.from('x');
      await management.call('PUT', `${upload}/parts/1${query}`, { as: member, body: bytes, headers });
      const complete = () => management.call('POST', `${upload}/complete${query}`, { as: member, body: {} });
      await lower();
      const refused = await complete();
      expect([refused.status, refused.body.data.code]).toEqual([403, 'AccessDenied']);
      management.access.join(team, member, 'admin');
      await management.clock.advance(SEEN_AFTER_MS);
      expect((await complete()).status).toBe(200);
      await lower();
      expect((await complete()).status).toBe(200);
    });
  });

  it('is cut off during an upload, and nothing is stored', async () => {
    const key = await createKey(member);
    const raw = sign(
      { method: 'PUT', target: '/alpha/slow', headers: { 'content-length': '20' }, body: 'x'.repeat(20) },
      key,
    );
    const { hostname, port } = new URL(management.store.endpoint);
    const outgoing = httpRequest({ hostname, port, method: 'PUT', path: raw.target, headers: { ...raw.headers } });
    const ended = once(outgoing, 'error');
    outgoing.write('x'.repeat(10));
    await waitFor(() => management.clock.pendingTimers() > 0);
    management.access.leave(team, member);
    await management.clock.advance(CUT_AFTER_MS);
    await ended;
    const owners = await createKey(management.owner, {}, '');
    expect((await send({ target: '/alpha/slow' }, owners)).code).toBe('NoSuchKey');
  });

  it('is cut off during a download', async () => {
    const key = await createKey(member);
    const body = Buffer.alloc(32 * 1024 * 1024);
    expect((await send({ method: 'PUT', target: '/alpha/large', body }, key)).status).toBe(200);
    const raw = sign({ target: '/alpha/large' }, key);
    const { hostname, port } = new URL(management.store.endpoint);
    const outgoing = httpRequest({ hostname, port, path: raw.target, headers: { ...raw.headers }, agent: false });
    outgoing.end();
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]; // the argument of the event
    incoming.pause();
    const failed = once(incoming, 'error');
    await waitFor(() => management.clock.pendingTimers() > 0);
    management.access.leave(team, member);
    await management.clock.advance(CUT_AFTER_MS);
    incoming.resume();
    await expect(failed).resolves.toMatchObject([{ code: 'ECONNRESET' }]);
  });

  it('audits its first use, its configuration changes and its refusals', async () => {
    const { owner, audit, tenantId } = management;
    const key = await createKey(member);
    const admin = await createKey(owner, { permissions: ['admin'] }, '');
    const before = audit.entries.length;
    await put(key);
    await put(key);
    await send({ method: 'PUT', target: '/alpha?policy', body: '{}' }, key);
    await send({ method: 'PUT', target: '/beta' }, key);
    await send({ method: 'DELETE', target: '/beta' }, admin);
    await send({ method: 'DELETE', target: '/alpha/object?versionId=null' }, admin);
    await send({ method: 'PUT', target: '/alpha/open', headers: { 'x-amz-acl': 'public-read' } }, admin);
    await sendRaw(management.store.endpoint, { method: 'PUT', target: '/alpha?policy' });
    await send({ method: 'PUT', target: '/alpha?policy' }, { ...admin, secretAccessKey: 'tsec_wrong' });
    const lines = audit.entries.slice(before);
    expect(lines.map(({ action, resource, status, principal }) => [action, resource, status, principal?.id])).toEqual([
      ['key:use', `key/${key.accessKeyId}`, 200, member.principal.id],
      ['bucket:update', 'bucket/alpha', 403, member.principal.id],
      ['bucket:create', 'bucket/beta', 200, member.principal.id],
      ['key:use', `key/${admin.accessKeyId}`, 200, owner.principal.id],
      ['bucket:delete', 'bucket/beta', 204, owner.principal.id],
      ['object:delete', 'object/alpha/object', 204, owner.principal.id],
      ['bucket:update', 'object/alpha/open', 200, owner.principal.id],
    ]);
    expect(lines[1]).toMatchObject({
      workspaceUuid: tenantId,
      outcome: 'refused',
      remoteAddress: '127.0.0.1',
      details: { operation: 'PutBucketPolicy' },
      principal: { credential: 'access_key', credentialId: key.accessKeyId, name: 'member' },
    });
  });

  it('writes one audit entry for a list that deletes versions, and limits the entries for refusals', async () => {
    const admin = await createKey(management.owner, { permissions: ['admin'] }, '');
    await put(admin);
    const before = management.audit.entries.length;
    const body =
      '<Delete><Object><Key>object</Key><VersionId>null</VersionId></Object><Object><Key>b</Key></Object></Delete>';
    await send({ method: 'POST', target: '/alpha?delete', body }, admin);
    expect(management.audit.entries.slice(before)).toMatchObject([
      { action: 'object:delete', resource: 'bucket/alpha', details: { objects: 2, versions: 1, refused: 0 } },
    ]);
    const long = `<Object><Key>${'&#34;'.repeat(100)}</Key><VersionId>${'v'.repeat(1_000)}</VersionId></Object>`;
    const headers = { 'x-amz-bypass-governance-retention': 'true' };
    await send(
      { method: 'POST', target: '/alpha?delete', headers, body: `<Delete>${long.repeat(20)}</Delete>` },
      admin,
    );
    const target = `/alpha/object?versionId=${'v'.repeat(5_000)}`;
    await send({ method: 'DELETE', target, headers }, admin);
    for (const { details } of management.audit.entries.slice(-2)) {
      expect(details).toMatchObject({ bypass_governance: true });
      expect(JSON.stringify(details).length).toBeLessThan(4_000); // the audit log drops longer details
    }
    const key = await createKey(member);
    await put(key);
    const quiet = management.audit.entries.length;
    for (let count = 0; count < 50; count += 1) await send({ method: 'PUT', target: '/alpha?policy' }, key);
    expect(management.audit.entries.length - quiet).toBe(30);
  });

  it('expires with the token that creates it, unless an earlier expiry is requested', async () => {
    const { owner } = management;
    const expiresAt = '2026-03-01T13:00:00.000Z';
    owner.principal.expiresAt = expiresAt;
    const inherits = await management.call('POST', '/keys', { body: {} });
    expect(inherits.body.data['key']).toMatchObject({ expires_at: expiresAt });
    const earlier = await management.call('POST', '/keys', { body: { expires_at: '2026-03-01T12:30:00Z' } });
    expect(earlier.body.data['key']).toMatchObject({ expires_at: '2026-03-01T12:30:00.000Z' });
    const later = await management.call('POST', '/keys', { body: { expires_at: '2026-03-01T13:00:01Z' } });
    expect(later.status).toBe(400);
    expect(later.body.data.code).toBe('ExpiryTooLate');
    expect(later.body.message).toContain(expiresAt);
    expect(JSON.stringify(later.body.data['details'])).toContain('expires_at');
    const body = { key: 'object', expires_in: 86_400 };
    const url = await management.call('POST', '/buckets/alpha/objects/presign', { body });
    expect(url.body.data['expires_at']).toBe(expiresAt);
  });
});
