import { migrations } from '@svc/migrations';
import { createInstallationStore } from '@svc/replicas';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';

const file = '/data/keys/master.key';

describeDialects<unknown>('the installation', migrations, (database) => {
  const store = (id: string) => createInstallationStore(database(), () => id);

  it('gets its id once, whichever replicas start first', async () => {
    const opened = await Promise.all(['one', 'two', 'three'].map((id) => store(id).open()));
    expect(new Set(opened.map(({ id }) => id)).size).toBe(1);
    expect(await store('four').open()).toEqual(opened[0]);
  });

  it('accepts the master key of the first start and refuses every other one', async () => {
    await store('one').checkMasterKey({ current: 'local:a', others: [], file });
    await store('one').checkMasterKey({ current: 'local:a', others: [], file });
    await expect(store('one').checkMasterKey({ current: 'local:b', others: ['local:c'], file })).rejects.toMatchObject({
      code: 'MASTER_KEY_DIFFERS',
      details: { found: 'local:b', expected: 'local:a', file },
    });
  });

  it('lets one of two first starts with different keys win', async () => {
    const starts = ['local:a', 'local:b'].map((current) => store('one').checkMasterKey({ current, others: [], file }));
    const outcomes = await Promise.allSettled(starts);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  it('accepts the old and the new key during a rotation, and only the new one after it', async () => {
    await store('one').checkMasterKey({ current: 'local:old', others: [], file });
    await store('one').checkMasterKey({ current: 'local:new', others: ['local:old'], file });
    await store('one').checkMasterKey({ current: 'local:old', others: ['local:new'], file });
    await store('one').setMasterKey('local:new');
    await store('one').checkMasterKey({ current: 'local:new', others: [], file });
    await expect(store('one').checkMasterKey({ current: 'local:old', others: [], file })).rejects.toMatchObject({
      code: 'MASTER_KEY_DIFFERS',
    });
  });
});
