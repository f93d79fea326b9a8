import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { apiClient } from './api-client.ts';
import { runSvc, startPlatform } from './running-platform.ts';

const environment = { SVC_SERVICES: 'object-store' };

describe('quotas of a running platform', () => {
  let folder: TemporaryFolder;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  const quota = (...args: string[]) => runSvc(['admin', 'quota', ...args, '--data', folder.path], environment);

  it('follow svc admin quota, which logs each change in the audit log', async () => {
    const platform = await startPlatform({ dataFolder: folder.path, environment });
    const { ready } = platform;
    const api = apiClient(ready);
    const of = ['--workspace', ready.workspace_uuid];
    const buckets = `/api/v1/workspace/${ready.workspace_uuid}/object-store/buckets`;
    const create = (name: string) => api.post(buckets, { name });
    const limit = async (): Promise<unknown> => {
      const { quotas } = await api.get<{ quotas: { name: string; limit: unknown }[] }>(
        `/api/v1/workspaces/${ready.workspace_uuid}/quotas`,
      );
      return quotas.find(({ name }) => name === 'buckets')?.limit;
    };

    expect(await quota('set', 'buckets', '1', ...of)).toMatchObject({ exitCode: 0 });
    await expect.poll(limit).toBe(1);
    await create('first');
    await expect(create('second')).rejects.toThrow('TooManyBuckets');
    expect(await quota('unset', 'buckets', ...of)).toMatchObject({ exitCode: 0 });
    await expect.poll(limit).not.toBe(1);
    // The running platform may enforce the old limit for up to a second.
    const attempt = () => create('second').then(() => 'created', String);
    await expect.poll(attempt, { timeout: 10_000 }).toBe('created');
    expect(await quota('set', 'bukets', '1', ...of)).not.toMatchObject({ exitCode: 0 });

    const audit = await api.get('/api/v1/audit?action=quota:update');
    const resource = `quota/workspace/${ready.workspace_uuid}/buckets`;
    expect(audit).toMatchObject({
      entries: [
        { resource, details: { limit: 'default', by: 'svc admin' } },
        { resource, details: { limit: 1, by: 'svc admin' } },
      ],
    });
    await platform.stop();
  });
});
