import { join } from 'node:path';
import { createInternalNetwork } from '@svc/forward/testing';
import { migrations } from '@svc/migrations';
import type { Database } from '@svc/sql';
import { openMigratedFile, temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import type { Kysely } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SandboxTables } from '../../src/store/tables.ts';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const LIMITS = { idleTimeoutMs: 1_000 };

let folder: TemporaryFolder;
let database: Database<unknown>;
let driver: FakeDriver;
let other: FakeDriver;
let holder: TestPlatform;
/** Forwards what concerns the sandboxes of the holder. */
let asked: TestPlatform;

beforeEach(async () => {
  folder = await temporaryFolder();
  database = await openMigratedFile<unknown>(join(folder.path, 'svc.db'), migrations);
  driver = new FakeDriver();
  other = new FakeDriver();
  const network = await createInternalNetwork(LIMITS);
  const nodes = { isLive: async () => true, live: async () => ['holder', 'asked'], silent: async () => [] };
  const shared = { network, nodes, database, limits: () => LIMITS };
  holder = await startPlatform({ ...shared, driver, node: 'holder' });
  asked = await startPlatform({ ...shared, driver: other, node: 'asked', access: holder.access });
});
afterEach(async () => {
  await asked.dispose();
  await holder.dispose();
  await driver.dispose();
  await other.dispose();
  await database.close();
  await folder.remove();
});

/** As the owner at the holder, who has the sandboxes. */
const call = (at: TestPlatform, method: string, path: string, body?: object) =>
  at.call(method, path, { caller: holder.owner, ...(body === undefined ? {} : { body }) });

it('reach clients however long a copy takes, also through another replica', async () => {
  const create = async () => String((await call(holder, 'POST', '/api/sandboxes', { image: 'busybox' })).body['id']);
  const [copied, silent] = [await create(), await create()];
  await call(holder, 'POST', '/api/volumes', { name: 'data' });
  const rest = Promise.withResolvers<void>();
  driver.beforeSnapshot = () => rest.promise;
  driver.beforeVolumeChange = () => rest.promise;
  const paths = [
    `/api/sandboxes/${copied}/snapshots`,
    `/api/sandboxes/${copied}/fork`,
    `/e2b/sandboxes/${copied}/snapshots`,
    `/e2b/sandboxes/${copied}/fork`,
    '/api/volumes/data/snapshots',
  ];
  const places = [holder, asked];
  const answers = Promise.all(places.flatMap((at) => paths.map((path) => call(at, 'POST', path, {}))));
  const kysely = database.kysely as Kysely<SandboxTables>; // migrated with every module's tables
  await waitFor(async () => {
    const snapshots = await kysely.selectFrom('sandbox_snapshot').select('id').execute();
    const volumes = await kysely.selectFrom('sandbox_volume').select('id').where('state', '=', 'making').execute();
    return snapshots.length === 8 && volumes.length === 2; // of all requests
  });
  driver.sandboxes.get(silent)?.helper?.freeze();
  const cut = places.map((at) => call(at, 'GET', `/api/sandboxes/${silent}/files/list?path=/`).catch(() => null));
  for (const answer of await Promise.all(cut)) expect([undefined, 503]).toContain(answer?.status); // and these began later
  driver.sandboxes.get(silent)?.helper?.thaw();
  rest.resolve();
  expect((await answers).map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 201));
});
