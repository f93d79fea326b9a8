import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startManagement, type Answer, type RunningManagement } from '../../support/running-management.ts';

const OBJECTS = '/buckets/photos/objects';

interface Version {
  version_id: string;
  is_latest: boolean;
  delete_marker: boolean;
  size: number;
}

describe('restoring a version', () => {
  let management: RunningManagement;
  beforeEach(async () => {
    management = await startManagement({ trash_grace_seconds: 0 });
    await management.call('POST', '/buckets', { body: { name: 'photos' } });
    await management.call('PUT', '/buckets/photos/versioning', { body: { status: 'enabled' } });
  });
  afterEach(() => management.close());

  const put = async (content: string | Buffer, query = ''): Promise<string> => {
    const headers = { 'content-type': 'text/x-note', 'x-amz-meta-colour': 'blue' };
    const path = `${OBJECTS}/content?key=a${query}`;
    const answer = await management.call('PUT', path, { body: Buffer.from(content), headers });
    return String(answer.body.data['version_id']);
  };
  const versions = async (): Promise<Version[]> =>
    (await management.call('GET', `${OBJECTS}/versions?key=a`)).body.data['versions'] as Version[]; // its schema
  const restore = (versionId: string): Promise<Answer> =>
    management.call('POST', `${OBJECTS}/versions/restore`, { body: { key: 'a', version_id: versionId } });
  const download = (): Promise<Answer> => management.call('GET', `${OBJECTS}/download?key=a`);

  it.each([
    ['small', 'first'],
    ['large', 'x'.repeat(300_000)],
  ])('makes a %s version the newest, with its metadata, and keeps all others', async (_size, content) => {
    const first = await put(content);
    const second = await put('second');
    const answer = await restore(first);
    expect(answer).toMatchObject({ status: 200, body: { data: { key: 'a', content_type: 'text/x-note' } } });
    const newest = await download();
    expect(newest.text).toBe(content);
    expect(newest.headers).toMatchObject({ 'content-type': 'text/x-note', 'x-amz-meta-colour': 'blue' });
    const kept = await versions();
    expect(kept.map(({ version_id: id }) => id)).toEqual([answer.body.data['version_id'], second, first]);
    await management.store.module.maintain();
    expect((await management.store.module.fsck()).clean).toBe(true);
    await management.call('DELETE', `${OBJECTS}?key=a&version_id=${first}`);
    await management.store.module.maintain();
    expect((await download()).text).toBe(content);
  });

  it('brings back a deleted object, and leaves the newest version alone', async () => {
    const first = await put('first');
    await management.call('DELETE', `${OBJECTS}?key=a`);
    expect((await download()).status).toBe(404);
    const answer = await restore(first);
    expect((await download()).text).toBe('first');
    const before = await versions();
    expect(before).toHaveLength(3);
    const again = await restore(String(answer.body.data['version_id']));
    expect(again).toMatchObject({ status: 200, body: { data: { version_id: answer.body.data['version_id'] } } });
    expect(await versions()).toEqual(before);
  });

  it('does not make a formerly public version public again', async () => {
    const first = await put('first', '&public=true');
    await put('second');
    await restore(first);
    const url = `/api/v1/public/object-store/t/${management.tenantId}/objects/a?bucket=photos`;
    expect((await management.app.inject({ method: 'GET', url })).statusCode).toBe(404);
  });

  it('rejects delete markers and missing versions', async () => {
    await put('first');
    await management.call('DELETE', `${OBJECTS}?key=a`);
    const [marker] = await versions();
    expect(await restore(marker?.version_id ?? '')).toMatchObject({ status: 405 });
    expect(await restore('absent')).toMatchObject({ status: 404, body: { data: { code: 'NoSuchVersion' } } });
  });

  it('respects the bucket quota', async () => {
    const first = await put('12345');
    await put('');
    await management.call('PUT', '/buckets/photos/settings', { body: { quota: { max_bytes: 8 } } });
    expect(await restore(first)).toMatchObject({ status: 403, body: { data: { code: 'QuotaExceeded' } } });
  });
});
