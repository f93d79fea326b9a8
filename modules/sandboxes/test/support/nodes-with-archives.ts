import { join } from 'node:path';
import { createInternalNetwork } from '@svc/forward/testing';
import type { Database } from '@svc/sql';
import { fakeAccess, fakeClock, temporaryFolder, waitFor, type FakeCaller, type FakeClock } from '@svc/testing';
import type { QuotaLimits } from '@svc/quotas';
import type { DiskSpace } from '@svc/runtime';
import type { Kysely } from 'kysely';
import type { SandboxTables } from '../../src/store/tables.ts';
import { BuildingDriver } from './building-driver.ts';
import { FolderBlobs } from './folder-blobs.ts';
import { startPlatform, type Answer, type TestPlatform } from './platform.ts';

/** No shorter than the interval of any loop that tests wait for, but of the rare sweeps. */
const STEP_MS = 15_000;

export interface ArchiveNode {
  readonly driver: BuildingDriver;
  readonly blobs: FolderBlobs;
  readonly platform: TestPlatform;
  /** Sends a request as the owner. */
  call(method: string, path: string, body?: unknown): Promise<Answer>;
}

export interface ArchiveNodeOptions {
  readonly hasArchives?: boolean;
  /** Whether it cannot forward requests to the others. */
  readonly isAlone?: boolean;
  readonly disk?: DiskSpace;
}

/** Nodes on one database and one storage for archives. */
export interface ArchiveNodes extends AsyncDisposable {
  /** Lets time pass for the nodes that respond; the others are like paused processes. */
  advance(ms: number): Promise<void>;
  /** Lets time pass, in steps, until the condition holds. */
  until(condition: () => Promise<boolean>, stepMs?: number): Promise<void>;
  readonly owner: FakeCaller;
  readonly kysely: Kysely<SandboxTables>;
  start(name: string, options?: ArchiveNodeOptions): Promise<ArchiveNode>;
  /** Everything in the storage. */
  stored(): Promise<string[]>;
  /** Size of all of it, including what is being written. */
  storedBytes(): Promise<number>;
  /** From now on, the nodes count as silent for the others. */
  fallSilent(...names: string[]): Promise<void>;
  /** The nodes respond again, and find that time has passed. */
  comeBack(...names: string[]): Promise<void>;
}

export async function createArchiveNodes<Tables>(
  given: Database<Tables>,
  quotaLimits?: QuotaLimits,
): Promise<ArchiveNodes> {
  const folder = await temporaryFolder('svc-archives-');
  const access = fakeAccess();
  const owner = access.user('owner@example.org');
  const clocks = new Map<string, FakeClock>();
  const missed = new Map<string, number>();
  let startsAt = fakeClock().now();
  const network = await createInternalNetwork();
  const silent = new Set<string>();
  const nodes: ArchiveNode[] = [];
  const database = given as unknown as Database<unknown>; // migrated with every module's tables
  const kysely = database.kysely as unknown as Kysely<SandboxTables>; // the same
  const blobsFolder = join(folder.path, 'archives');
  const advance = async (ms: number): Promise<void> => {
    startsAt = new Date(startsAt.getTime() + ms);
    for (const [name, clock] of clocks) {
      if (silent.has(name)) missed.set(name, (missed.get(name) ?? 0) + ms);
      else await clock.advance(ms);
    }
  };
  return {
    advance,
    until: async (condition, stepMs = STEP_MS) =>
      void (await waitFor(
        async () => {
          if (await condition()) return true;
          await advance(stepMs);
          return false;
        },
        { timeoutMs: 30_000 },
      )),
    owner,
    kysely,
    start: async (name, { hasArchives = true, isAlone = false, disk } = {}) => {
      const driver = new BuildingDriver();
      const blobs = new FolderBlobs(blobsFolder);
      const clock = fakeClock(startsAt.toISOString());
      clocks.set(name, clock);
      const platform = await startPlatform({
        driver,
        node: name,
        ...(isAlone ? {} : { network }),
        nodes: {
          isLive: async (node) => !silent.has(node),
          live: async () => [name], // so that each node builds what it is asked for
          silent: async () => [...silent],
        },
        database,
        access,
        clock,
        ...(quotaLimits === undefined ? {} : { quotaLimits: () => quotaLimits }),
        ...(disk === undefined ? {} : { disk }),
        ...(hasArchives ? { archives: blobs } : {}),
      });
      const call: ArchiveNode['call'] = (method, path, body) =>
        platform.call(method, path, { caller: owner, ...(body === undefined ? {} : { body }) });
      const node = { driver, blobs, platform, call };
      nodes.push(node);
      return node;
    },
    stored: () => new FolderBlobs(blobsFolder).list(),
    storedBytes: () => new FolderBlobs(blobsFolder).sizeBytes(),
    fallSilent: async (...names) => {
      for (const name of names) silent.add(name);
      const reported_at = '2020-01-01T00:00:00.000Z';
      await kysely.updateTable('sandbox_node').set({ reported_at }).where('node', 'in', names).execute();
    },
    comeBack: async (...names) => {
      for (const name of names) {
        silent.delete(name);
        await clocks.get(name)?.advance(missed.get(name) ?? 0);
        missed.delete(name);
      }
    },
    [Symbol.asyncDispose]: async () => {
      for (const { platform, driver } of nodes) {
        await platform.close();
        await platform.dispose();
        await driver.dispose();
      }
      await folder.remove();
    },
  };
}
