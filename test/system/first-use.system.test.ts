import { describeRequiring, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { walkObjectStore } from './object-store-walk.ts';
import { startPlatform, type RunningPlatform } from './running-platform.ts';
import { walkSandboxes } from './sandbox-walk.ts';

/** A newcomer's first minutes: one command, its single line, and ordinary clients. */
describe('the ready line of svc up --json is enough', () => {
  let folder: TemporaryFolder;
  let platform: RunningPlatform;
  beforeAll(async () => {
    folder = await temporaryFolder();
    platform = await startPlatform({ dataFolder: `${folder.path}/data` });
  });
  afterAll(async () => {
    await platform?.stop();
    await folder?.remove();
  });

  describeRequiring(['command:aws'], 'for the object store', () => {
    it('lets aws s3 cp store, list and fetch an object', async () => {
      const walk = await walkObjectStore(platform.ready, folder.path);
      expect(walk.listing).toMatch(/100000 folder\/object\.bin/);
      expect(walk.received.equals(walk.sent)).toBe(true);
    });
  });

  describeRequiring(['root', 'python-websockets'], 'for sandboxes', () => {
    it('lets Python websockets run a command in a terminal, resize it and read the exit code', async () => {
      const walk = await walkSandboxes(platform.ready);
      expect(walk).toMatchObject({ before: '24 80', after: '40 120', closeCode: 1000, exitCode: 7 });
      expect(walk.output).toContain('sum 42');
    });
  });
});
