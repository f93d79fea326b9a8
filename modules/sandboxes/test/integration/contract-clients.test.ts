import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const SANDBOXES = 60;

describe('clients that implement only the contract', () => {
  let platform: TestPlatform;

  beforeEach(async () => {
    const config = { max_per_caller: SANDBOXES, max_creates_per_minute: 10 * SANDBOXES };
    platform = await startPlatform({ driver: new FakeDriver(), config });
  });
  afterEach(() => platform.dispose());

  it('may send null for absent fields', async () => {
    const body = { image: 'busybox', name: null, environment: null, labels: null };
    const made = await platform.call('POST', '/api/containers', { body });
    expect(made).toMatchObject({ status: 201, body: { environment: {}, labels: {} } });
    expect(made.body['name']).toMatch(/^[a-z]/);
  });

  it('receive all their sandboxes in one page, because they follow no cursor', async () => {
    for (let count = 0; count < SANDBOXES; count += 1) {
      const made = await platform.call('POST', '/api/containers?wait_ms=0', { body: { image: 'busybox' } });
      expect([201, 202]).toContain(made.status);
    }
    const { body } = await platform.call('GET', '/api/containers');
    expect(body).toMatchObject({ count: SANDBOXES, limit: SANDBOXES, next_cursor: null });
    expect(body['containers']).toHaveLength(SANDBOXES);
  });

  it('learn the allowed values of a field from the error', async () => {
    const refused = await platform.call('GET', '/api/containers?status=paused');
    expect(refused).toMatchObject({
      status: 400,
      body: { details: { field: 'status', reason: 'status must be one of creating, running, stopped, error' } },
    });
  });
});
