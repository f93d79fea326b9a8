import { createSecretKey } from 'node:crypto';
import { expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform } from '../support/platform.ts';

it('loads the key of tokens once for the guesses of strangers, and again after the database was away', async () => {
  let loads = 0;
  const driver = new FakeDriver();
  const platform = await startPlatform({
    driver,
    previewKey: async () => {
      loads += 1;
      if (loads === 1) throw new Error('the database is away');
      return createSecretKey(Buffer.alloc(32, 7));
    },
  });
  try {
    const password = `svc_spc_${'a'.repeat(26)}-${'A'.repeat(43)}`;
    const headers = { authorization: `Basic ${Buffer.from(`cls-x:${password}`).toString('base64')}` };
    const path = '/v2/svc-images/local/sha256-00/manifests/image';
    const guess = async (): Promise<number> => (await platform.call('GET', path, { caller: null, headers })).status;
    expect([await guess(), await guess(), await guess()]).toEqual([500, 401, 401]);
    expect(loads).toBe(2);
  } finally {
    await platform.dispose();
    await driver.dispose();
  }
});
