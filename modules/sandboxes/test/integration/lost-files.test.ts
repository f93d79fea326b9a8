import { fakeClock } from '@svc/testing';
import { expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform } from '../support/platform.ts';

it('never creates a sandbox that has run again: without its files, its start fails', async () => {
  const driver = new FakeDriver();
  const platform = await startPlatform({ driver, clock: fakeClock() });
  try {
    const { id } = (await platform.call('POST', '/api/containers', { body: { image: 'busybox' } })).body;
    await platform.call('POST', `/api/containers/${id}/stop`);
    await driver.remove(id); // as if its machine had lost it
    expect((await platform.call('POST', `/api/containers/${id}/start`)).body).toMatchObject({
      status: 'error',
      error: { code: 'ROOTFS_FAILED', message: expect.stringContaining('its files are gone') },
    });
    expect(driver.sandboxes.has(id)).toBe(false);
  } finally {
    await platform.dispose();
    await driver.dispose();
  }
});
