import type { AuditEntry } from '@svc/access';
import type { FakeCaller } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sendRaw, signed, type RawAnswer, type RawRequest } from '../support/raw-request.ts';
import { startManagement, type RunningManagement } from '../support/running-management.ts';
import type { TestKey } from '../support/running-store.ts';

const VERSIONING = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';

describe('the audit log of a bucket shared with other workspaces', () => {
  let management: RunningManagement;
  let stranger: FakeCaller;
  let strangers: TestKey;
  let mine: TestKey;

  beforeEach(async () => {
    management = await startManagement();
    stranger = management.access.user('stranger');
    await management.call('POST', '/buckets', { body: { name: 'alpha' } });
    mine = await createKey(management.owner);
    await management.call('POST', '/buckets', {
      body: { name: 'theirs' },
      as: stranger,
      workspace: stranger.workspaceUuid,
    });
    strangers = await createKey(stranger);
    await send({ method: 'GET', target: '/' }, strangers);
    await send({ method: 'PUT', target: '/alpha?versioning', body: VERSIONING }, mine);
  });
  afterEach(() => management.close());

  const createKey = async (as: FakeCaller): Promise<TestKey> => {
    const body = { permissions: ['read', 'write', 'admin'] };
    const made = await management.call('POST', '/keys', { as, body, workspace: as.workspaceUuid });
    expect(made.status).toBe(201);
    const { accessKeyId, secretAccessKey } = made.body.data;
    return { accessKeyId: String(accessKeyId), secretAccessKey: String(secretAccessKey) };
  };
  const send = (raw: RawRequest, key: TestKey | null): Promise<RawAnswer> => {
    const { endpoint } = management.store;
    const { host } = new URL(endpoint);
    return sendRaw(endpoint, key === null ? raw : signed(raw, { key, host, nowMs: management.clock.nowMs() }));
  };
  const open = async (...actions: string[]): Promise<void> => {
    const statement = {
      Effect: 'Allow',
      Principal: '*',
      Action: actions,
      Resource: ['arn:aws:s3:::alpha', 'arn:aws:s3:::alpha/*'],
    };
    const body = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
    expect((await send({ method: 'PUT', target: '/alpha?policy', body }, mine)).status).toBe(204);
  };
  const stored = async (): Promise<string> =>
    String((await send({ method: 'PUT', target: '/alpha/object', body: 'x' }, mine)).headers['x-amz-version-id']);
  /** Returns the audit entries that `work` adds for a workspace. */
  const collectEntries = async (workspaceUuid: string, work: () => Promise<unknown>): Promise<AuditEntry[]> => {
    const before = management.audit.entries.length;
    await work();
    return management.audit.entries.slice(before).filter((entry) => entry.workspaceUuid === workspaceUuid);
  };

  it('records the key and workspace of an outside caller, but not the name of the key creator', async () => {
    await open('s3:PutLifecycleConfiguration', 's3:PutBucketVersioning');
    const put = (): Promise<RawAnswer> =>
      send({ method: 'PUT', target: '/alpha?versioning', body: VERSIONING }, strangers);
    const lines = await collectEntries(management.tenantId, async () => expect((await put()).status).toBe(200));
    expect(lines).toMatchObject([
      {
        action: 'bucket:update',
        resource: 'bucket/alpha',
        outcome: 'success',
        principal: {
          id: stranger.principal.id,
          name: `workspace/${stranger.workspaceUuid}`,
          credential: 'access_key',
          credentialId: strangers.accessKeyId,
        },
        details: { operation: 'PutBucketVersioning', caller_workspace: stranger.workspaceUuid },
      },
    ]);
    expect(await collectEntries(stranger.workspaceUuid, put)).toMatchObject([
      { action: 'bucket:update', principal: { name: 'stranger' }, details: { operation: 'PutBucketVersioning' } },
    ]);
  });

  it('records versions deleted by outside callers, one by one and in a list, signed and anonymous', async () => {
    await open('s3:DeleteObjectVersion', 's3:DeleteObject');
    for (const [key, actor] of [
      [strangers, stranger.principal.id],
      [null, undefined],
    ] as const) {
      const [one, other] = [await stored(), await stored()];
      const list = `<Delete><Object><Key>object</Key><VersionId>${other}</VersionId></Object></Delete>`;
      const lines = await collectEntries(management.tenantId, async () => {
        await send({ method: 'DELETE', target: `/alpha/object?versionId=${one}` }, key);
        await send({ method: 'POST', target: '/alpha?delete', body: list }, key);
      });
      expect(lines.map(({ action, resource, status, principal }) => [action, resource, status, principal?.id])).toEqual(
        [
          ['object:delete', 'object/alpha/object', 204, actor],
          ['object:delete', 'bucket/alpha', 200, actor],
        ],
      );
      expect(lines[0]?.details).toMatchObject({ version_id: one });
    }
  });

  it('records the deletion of the bucket by an outside caller', async () => {
    await open('s3:DeleteBucket');
    const lines = await collectEntries(management.tenantId, () =>
      send({ method: 'DELETE', target: '/alpha' }, strangers),
    );
    expect(lines).toMatchObject([{ action: 'bucket:delete', status: 204, principal: { id: stranger.principal.id } }]);
  });

  it('records nothing for refused requests of outside callers', async () => {
    const lines = await collectEntries(management.tenantId, async () => {
      for (const key of [strangers, null]) {
        expect((await send({ method: 'PUT', target: '/alpha?versioning', body: VERSIONING }, key)).status).toBe(403);
        expect((await send({ method: 'DELETE', target: '/alpha/object?versionId=null' }, key)).status).toBe(403);
      }
    });
    expect(lines).toEqual([]);
  });
});
