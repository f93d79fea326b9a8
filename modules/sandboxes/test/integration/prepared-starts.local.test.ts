import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createMetrics } from '@svc/telemetry';
import { skippedTitle, waitFor } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const reason = localDriverReason();
const title = 'creates with prepared starts';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  let metrics: ReturnType<typeof createMetrics>;

  const figure = async (name: string): Promise<number> => {
    const line = (await metrics.render())
      .split('\n')
      .find((each) => each.startsWith(`svc_sandbox_prepared_starts_${name} `));
    return Number(line?.split(' ')[1]);
  };
  const filled = () => waitFor(async () => (await figure('ready')) === 1, { description: 'a prepared start' });
  const waiting = (): string[] => readdirSync(join(platform.runFolder, 'sandboxes'));
  const create = (body: Record<string, unknown> = {}) =>
    platform.call('POST', '/api/sandboxes?wait_ms=30000', { body: { image: 'busybox', ...body } });

  beforeEach(async () => {
    metrics = createMetrics();
    platform = await startPlatform({
      prepare: 'busybox',
      config: { prepared_starts: 1, max_per_caller: 1 },
      metrics: () => metrics,
    });
    await filled();
  });
  afterEach(() => platform.dispose());

  it('take the id of a prepared start and make room for the next', async () => {
    const [id] = waiting();
    const created = await create({ name: 'chosen' });
    expect(created).toMatchObject({ status: 201, body: { id, status: 'running', name: 'chosen' } });
    expect(await figure('claims_total{outcome="hit"}')).toBe(1);
    await filled();
    expect(waiting()).toHaveLength(2);
  });

  it('leave it in place when they are refused', async () => {
    await create();
    await filled();
    const before = waiting().toSorted();
    expect(await create()).toMatchObject({ status: 403, body: { code: 'QUOTA_EXCEEDED' } });
    expect(await figure('ready')).toBe(1);
    expect(waiting().toSorted()).toEqual(before);
  });

  it('start normally when none fits', async () => {
    const before = waiting();
    const created = await create({ network: 'none' });
    expect(created).toMatchObject({ status: 201, body: { status: 'running' } });
    expect(before).not.toContain(created.body['id']);
    expect(await figure('claims_total{outcome="miss"}')).toBe(1);
  });
});
