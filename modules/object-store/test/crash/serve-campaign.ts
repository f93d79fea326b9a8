import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Access } from '@svc/access';
import { createHttpApp, createListener } from '@svc/http';
import { systemClock } from '@svc/runtime';
import { createLogger, createMetrics } from '@svc/telemetry';
import { fakeAccess, fakeAudit } from '@svc/testing';
import { unlimitedQuotas } from '@svc/quotas';
import { fsck, type FsckReport } from '../../src/domain/fsck.ts';
import { startStore, testConfig, type RunningStore, type TestKey } from '../support/running-store.ts';
import { CRASH_BUCKET, EXPIRING_BUCKET, TAGGED_BUCKET, VERSIONED_BUCKET } from './campaign-state.ts';
import { CAMPAIGN_PART_BYTES } from './key-operations.ts';

/** Longer than any commit takes: a younger blob may be in flight, and an older unknown one must have been swept. */
const SETTLE_SECONDS = 20;
const WORKSPACE = '00000000-0000-4000-8000-000000000001';

/** The first line of the process, as JSON. */
export interface ServedCampaign extends TestKey {
  endpoint: string;
  pid: number;
  management: { url: string; token: string };
  /** Report on the folder as the previous process left it, after one maintenance round. */
  fsck: FsckReport;
}

export function campaignConfig(): ReturnType<typeof testConfig> {
  const { limits, ...rest } = testConfig();
  return {
    ...rest,
    lifecycle: { ...rest.lifecycle, day_seconds: 1 },
    trash_grace_seconds: 0,
    sweep_grace_seconds: SETTLE_SECONDS,
    limits: { ...limits, part_min_bytes: CAMPAIGN_PART_BYTES },
  };
}

/** Runs both planes of a store in one process, after checking that the folder is consistent. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { folder: { type: 'string' } } });
  const folder = values.folder ?? '.';
  const store = await startStore(folder, { config: campaignConfig() });
  const beganAtMs = Date.now();
  await store.module.maintain();
  const { metadata, blobs } = store;
  // Uses the time before the sweep: blobs that came of age since are left to the next one.
  const clock = { ...systemClock, nowMs: () => beganAtMs };
  const found = await fsck({ metadata, blobs, clock }, { settleMs: SETTLE_SECONDS * 1_000 });
  const key = await prepare(store, join(folder, 'test-key.json'));
  const management = await serveManagement(store);
  await store.module.start(new AbortController().signal);
  const line: ServedCampaign = { ...key, endpoint: store.endpoint, pid: process.pid, management, fsck: found };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** Returns the same key and buckets at each start, like the saved settings of a client. */
async function prepare(store: RunningStore, file: string): Promise<TestKey> {
  if (existsSync(file)) return JSON.parse(await readFile(file, 'utf8')) as TestKey; // written below
  const key = await store.createKey({ workspaceUuid: WORKSPACE });
  for (const [index, name] of [CRASH_BUCKET, VERSIONED_BUCKET, TAGGED_BUCKET, EXPIRING_BUCKET].entries()) {
    const bucketId = 1_000 + index;
    const bucket = {
      id: bucketId,
      name,
      workspaceUuid: WORKSPACE,
      nowMs: Date.now(),
      tenant: await unlimitedQuotas.readLimits(WORKSPACE),
    };
    await store.metadata.createBucket({ ...bucket, encryptionMode: 'none', locationHint: null });
    if (name === VERSIONED_BUCKET) await store.metadata.setVersioning({ bucketId, versioning: 'enabled' });
  }
  await writeFile(file, JSON.stringify(key), { flush: true });
  return key;
}

/** Serves the management API to one caller, always in the workspace of the campaign. */
async function serveManagement(store: RunningStore): Promise<{ url: string; token: string }> {
  const callers = fakeAccess();
  const owner = callers.user('owner');
  const access: Access = {
    authenticate: (source) => callers.authenticate(source),
    authenticateSshKey: (fingerprint) => callers.authenticateSshKey(fingerprint),
    recheck: (ref) => callers.recheck(ref),
    allowedActions: async ({ actions }) => new Set(actions),
    permit: (principal, action) => callers.permit(principal, action),
    authorize: async () => ({ workspaceUuid: WORKSPACE, role: 'owner', teamUuid: null }),
  };
  const log = createLogger({ level: 'silent', name: 'campaign' });
  const app = await createHttpApp({ log, metrics: createMetrics(), access, audit: fakeAudit(), version: '0' });
  await store.module.registerRoutes(app);
  await app.ready();
  const listener = createListener({ handler: (incoming, response) => app.routing(incoming, response) });
  const port = await listener.listen(0, '127.0.0.1');
  return { url: `http://127.0.0.1:${port}/api/v1/workspace/${WORKSPACE}/object-store`, token: owner.token };
}

if (process.argv[1] === import.meta.filename) await main();
