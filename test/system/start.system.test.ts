import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { apiClient } from './api-client.ts';
import { reportFigure } from './figures.ts';
import { residentBytes } from './process-facts.ts';
import { runSvc, startPlatform } from './running-platform.ts';

const MEGABYTE = 1e6;
const IDLE_LIMIT_BYTES = 150 * MEGABYTE;

let folder: TemporaryFolder;
beforeEach(async () => {
  folder = await temporaryFolder();
});
afterEach(() => folder.remove());

describe('svc up', () => {
  it('starts on a new folder and again on the same one, and shuts down cleanly', async () => {
    const dataFolder = join(folder.path, 'data');
    const first = await startPlatform({ dataFolder });
    reportFigure('start to ready, first on a data folder', `${Math.round(first.startMs)} ms`);
    const workspace = first.ready.workspace_uuid;
    expect(await first.stop()).toBe(0);

    const second = await startPlatform({ dataFolder });
    reportFigure('start to ready, second', `${Math.round(second.startMs)} ms`);
    expect(second.ready.workspace_uuid).toBe(workspace);
    expect(await apiClient(second.ready).get('/healthz')).toMatchObject({ status: 'ok' });
    expect(await second.stop()).toBe(0);
  });

  it(`takes no more than ${IDLE_LIMIT_BYTES / MEGABYTE} MB of memory when idle`, async () => {
    await using platform = await startPlatform({ dataFolder: join(folder.path, 'data') });
    const { pid } = platform.ready;
    let bytes = residentBytes(pid);
    try {
      await waitFor(() => (bytes = residentBytes(pid)) <= IDLE_LIMIT_BYTES, { intervalMs: 500, timeoutMs: 90_000 });
    } catch {
      expect(bytes / MEGABYTE).toBeLessThanOrEqual(IDLE_LIMIT_BYTES / MEGABYTE);
    } finally {
      reportFigure('resident memory when idle', `${(bytes / MEGABYTE).toFixed(1)} MB`);
    }
  });

  it('refuses a data folder that another process holds, in one line, and affects neither', async () => {
    const dataFolder = join(folder.path, 'data');
    await using platform = await startPlatform({ dataFolder });
    const refused = await runSvc([
      'up',
      '--json',
      '--data',
      dataFolder,
      '--port',
      '0',
      '--https-port',
      '0',
      '--s3-port',
      '0',
    ]);
    expect(refused.exitCode).toBe(1);
    expect(refused.stdout).toBe('');
    expect(refused.stderr.trim().split('\n')).toHaveLength(1);
    expect(await apiClient(platform.ready).get('/healthz')).toMatchObject({ status: 'ok' });
  });

  it('refuses a port that is in use, in one line, and leaves nothing behind', async () => {
    await using platform = await startPlatform({ dataFolder: join(folder.path, 'data') });
    const { port } = new URL(platform.ready.url);
    const other = join(folder.path, 'other');
    const refused = await runSvc([
      'up',
      '--json',
      '--data',
      other,
      '--port',
      port,
      '--https-port',
      '0',
      '--s3-port',
      '0',
    ]);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain(port);
    expect(refused.stderr.trim().split('\n')).toHaveLength(1);
    expect(existsSync(join(other, 'owner.json'))).toBe(false);
  });

  it('reports every configuration error at once, and does not start', async () => {
    const environment = { SVC_PORT: 'many', SVC_LOG_LEVEL: 'loud' };
    const refused = await runSvc(['up', '--json', '--data', join(folder.path, 'data')], environment);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain('port must be a number (SVC_PORT)');
    expect(refused.stderr).toContain('log.level');
    expect(existsSync(join(folder.path, 'data'))).toBe(false);
  });
});
