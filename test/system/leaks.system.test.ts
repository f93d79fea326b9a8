import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { requirement, temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportFigure } from './figures.ts';
import { attachInspector, INSPECTABLE, type Inspector } from './inspector.ts';
import { reconnectAgents, signIn, useObjects, useSandboxes } from './leak-load.ts';
import { descendants, filesBelow, mountsContaining, openDescriptors, residentBytes } from './process-facts.ts';
import { startPlatform, type RunningPlatform } from './running-platform.ts';

/** Keep-alive connections, grace periods and background rounds end within this time. */
const SETTLE_MS = 180_000;
const LOOKS_AT_REST = 20;
const LOOK_EVERY_MS = 250;
const withoutSandboxes = requirement('root');

type Holdings = Readonly<Record<string, number>>;

function add(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

describe('a platform after use', () => {
  let folder: TemporaryFolder;
  let platform: RunningPlatform;
  let inspector: Inspector;
  let credentials: { email: string; password: string };

  beforeAll(async () => {
    folder = await temporaryFolder();
    const temporary = join(folder.path, 'tmp');
    await mkdir(temporary);
    // Delete object bytes immediately: the default of one hour is longer than a test can wait.
    const environment = { ...INSPECTABLE, TMPDIR: temporary, SVC_OBJECT_STORE_TRASH_GRACE_SECONDS: '0' };
    platform = await startPlatform({ dataFolder: join(folder.path, 'data'), environment });
    inspector = await attachInspector(platform.log());
    const owner = await readFile(join(folder.path, 'data', 'owner.json'), 'utf8');
    const { email, password } = JSON.parse(owner) as { email: string; password: string }; // as described in the design
    credentials = { email, password };
  });
  afterAll(async () => {
    await inspector?.[Symbol.asyncDispose]();
    await platform?.stop();
    await folder?.remove();
  });

  /** Counts the platform's current resources by name. Its data may grow, but none of these may. */
  async function held(): Promise<Holdings> {
    const { pid } = platform.ready;
    const dataFiles = filesBelow(join(folder.path, 'data')).filter((path) => !/(-wal|-shm|\.log)$/.test(path));
    const counts: Record<string, number> = {
      'files in the temporary folder': filesBelow(join(folder.path, 'tmp')).length,
      'files in the data folder': dataFiles.length,
    };
    for (const [kind, count] of Object.entries(openDescriptors(pid))) counts[`descriptor ${kind}`] = count;
    for (const [kind, count] of Object.entries(await inspector.activeResources())) counts[`resource ${kind}`] = count;
    for (const command of descendants(pid).values()) add(counts, `process ${command}`);
    for (const mount of mountsContaining(folder.path)) add(counts, `mount ${mount}`);
    return counts;
  }

  /** Timers of background rounds come and go, so take the maximum held while idle. */
  async function atRest(): Promise<Holdings> {
    const most: Record<string, number> = {};
    for (let look = 0; look < LOOKS_AT_REST; look += 1) {
      for (const [name, count] of Object.entries(await held())) most[name] = Math.max(most[name] ?? 0, count);
      await delay(LOOK_EVERY_MS);
    }
    return most;
  }

  async function returnsTo(before: Holdings): Promise<void> {
    let more: Holdings = {};
    try {
      await waitFor(
        async () => {
          const now = Object.entries(await held());
          more = Object.fromEntries(now.filter(([name, count]) => count > (before[name] ?? 0)));
          return Object.keys(more).length === 0;
        },
        { timeoutMs: SETTLE_MS, intervalMs: 1_000, description: 'the platform to hold what it held before' },
      );
    } catch {
      expect(more).toEqual({}); // the failure lists the leaks
    }
  }

  /** The first uses fill caches and start workers; anything that remains after many more is a leak. */
  async function leavesNothing(name: string, few: () => Promise<unknown>, many: () => Promise<unknown>): Promise<void> {
    await few();
    const before = await atRest();
    const bytes = residentBytes(platform.ready.pid);
    await many();
    await returnsTo(before);
    const grown = (residentBytes(platform.ready.pid) - bytes) / 1024 / 1024;
    reportFigure(`resident memory after ${name}`, `${grown >= 0 ? '+' : ''}${grown.toFixed(1)} MiB`);
  }

  it('holds no additional resources after 300 sign-ins', async () => {
    const { ready } = platform;
    await leavesNothing(
      '300 sign-ins',
      () => signIn(ready, credentials, 8),
      () => signIn(ready, credentials, 300),
    );
  });

  it('holds no additional resources after 1,000 S3 requests', async () => {
    const { ready } = platform;
    await leavesNothing(
      '1,000 S3 requests',
      () => useObjects(ready, 80),
      () => useObjects(ready, 1_000),
    );
  });

  it('holds no additional resources after 100 agents connected and disconnected', async () => {
    const { ready } = platform;
    await leavesNothing(
      '100 agent reconnects',
      () => reconnectAgents(ready, 4),
      () => reconnectAgents(ready, 100),
    );
  });

  it.skipIf(withoutSandboxes !== null)(
    `holds no additional resources after 100 sandboxes${withoutSandboxes === null ? '' : ` [skipped: ${withoutSandboxes}]`}`,
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
