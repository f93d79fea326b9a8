import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { requirement, temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportFigure } from './figures.ts';
import { attachInspector, INSPECTABLE, type Inspector } from './inspector.ts';
import { reconnectAgents, signIn, useObjects, useSandboxes } from './leak-load.ts';
import { descendants, filesBelow, mountsContaining, openDescriptors, residentBytes } from './process-facts.ts';
import { startPlatform, type RunningPlatform } from './running-platform.ts';

/** Keep-alive connections, grace times and background rounds end within this. */
const SETTLE_MS = 180_000;
const withoutSandboxes = requirement('root');

describe('a platform that has worked', () => {
  let folder: TemporaryFolder;
  let platform: RunningPlatform;
  let inspector: Inspector;
  let credentials: { email: string; password: string };

  beforeAll(async () => {
    folder = await temporaryFolder();
    const temporary = join(folder.path, 'tmp');
    await mkdir(temporary);
    const environment = { ...INSPECTABLE, TMPDIR: temporary };
    platform = await startPlatform({ dataFolder: join(folder.path, 'data'), environment });
    inspector = await attachInspector(platform.log());
    const owner = await readFile(join(folder.path, 'data', 'owner.json'), 'utf8');
    credentials = JSON.parse(owner) as { email: string; password: string }; // as the design describes the file
  });
  afterAll(async () => {
    await inspector?.[Symbol.asyncDispose]();
    await platform?.stop();
    await folder?.remove();
  });

  /** What the platform holds at this moment, and nothing that may grow with its data. */
  async function held() {
    const { pid } = platform.ready;
    const dataFiles = filesBelow(join(folder.path, 'data')).filter((path) => !/(-wal|-shm|\.log)$/.test(path));
    return {
      descriptors: openDescriptors(pid),
      resources: await inspector.activeResources(),
      processes: [...descendants(pid).values()].toSorted(),
      mounts: mountsContaining(folder.path).toSorted(),
      temporaryFiles: filesBelow(join(folder.path, 'tmp')).length,
      dataFiles: dataFiles.length,
    };
  }

  async function returnsTo(before: Awaited<ReturnType<typeof held>>): Promise<void> {
    let now = before;
    try {
      await waitFor(
        async () => {
          now = await held();
          return JSON.stringify(now) === JSON.stringify(before);
        },
        { timeoutMs: SETTLE_MS, intervalMs: 1_000, description: 'the platform to hold what it held before' },
      );
    } catch {
      expect(now).toEqual(before); // says what is left over
    }
  }

  /** The first of anything fills caches and starts workers; what stays after the many is a leak. */
  async function leavesNothing(name: string, few: () => Promise<unknown>, many: () => Promise<unknown>): Promise<void> {
    await few();
    const settled = await settle();
    const bytes = residentBytes(platform.ready.pid);
    await many();
    await returnsTo(settled);
    const grown = (residentBytes(platform.ready.pid) - bytes) / 1024 / 1024;
    reportFigure(`resident memory after ${name}`, `${grown >= 0 ? '+' : ''}${grown.toFixed(1)} MiB`);
  }

  /** The state once it no longer changes from one look to the next. */
  async function settle(): Promise<Awaited<ReturnType<typeof held>>> {
    let last = '';
    let same = 0;
    return waitFor(
      async () => {
        const now = await held();
        same = JSON.stringify(now) === last ? same + 1 : 0;
        last = JSON.stringify(now);
        return same >= 5 ? now : null;
      },
      { timeoutMs: SETTLE_MS, intervalMs: 1_000, description: 'the platform to come to rest' },
    );
  }

  it('holds nothing more after 1,000 sign-ins', async () => {
    const { ready } = platform;
    await leavesNothing(
      '1,000 sign-ins',
      () => signIn(ready, credentials, 8),
      () => signIn(ready, credentials, 1_000),
    );
  });

  it('holds nothing more after 1,000 S3 requests', async () => {
    const { ready } = platform;
    await leavesNothing(
      '1,000 S3 requests',
      () => useObjects(ready, 80),
      () => useObjects(ready, 1_000),
    );
  });

  it('holds nothing more after 100 agents have come and gone', async () => {
    const { ready } = platform;
    await leavesNothing(
      '100 agent reconnects',
      () => reconnectAgents(ready, 4),
      () => reconnectAgents(ready, 100),
    );
  });

  it.skipIf(withoutSandboxes !== null)(
    `holds nothing more after 100 sandboxes${withoutSandboxes === null ? '' : ` [skipped: ${withoutSandboxes}]`}`,
    async () => {
      const { ready } = platform;
      await leavesNothing(
        '100 sandboxes',
        () => useSandboxes(ready, 4),
        async () => {
          const ids = await useSandboxes(ready, 100);
          for (const id of ids) expect(mountsContaining(id)).toEqual([]);
        },
      );
    },
  );
});
