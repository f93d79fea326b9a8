import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startStore, type RunningStore, type TestKey } from './running-store.ts';

/** The first line of the process, as JSON. */
export interface ServedStore extends TestKey {
  endpoint: string;
  pid: number;
}

/** Test receivers run on this machine, and retries are fast. */
const LOCAL_WEBHOOKS = {
  allowed_networks: ['127.0.0.0/8'],
  timeout_seconds: 5,
  retry_seconds: 1,
  give_up_seconds: 600,
  keep_failed_days: 1,
};

/** Runs a store in its own process, for tests that kill it or measure it: `serve-store.ts --folder DIR`. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { folder: { type: 'string' } } });
  const folder = values.folder ?? '.';
  const config = { trash_grace_seconds: 0, sweep_grace_seconds: 0, notifications: LOCAL_WEBHOOKS };
  const store = await startStore(folder, { config });
  const stop = new AbortController();
  await store.module.start(stop.signal);
  const key = await loadOrCreateKey(store, join(folder, 'test-key.json'));
  const line: ServedStore = { ...key, endpoint: store.endpoint, pid: process.pid };
  process.stdout.write(`${JSON.stringify(line)}\n`);
  process.once('SIGTERM', () => {
    stop.abort();
    void store.close().then(() => process.exit(0));
  });
}

/** Returns the same key at each start, like the saved settings of a client. */
async function loadOrCreateKey(store: RunningStore, file: string): Promise<TestKey> {
  if (existsSync(file)) return JSON.parse(await readFile(file, 'utf8')) as TestKey; // written below
  const key = await store.createKey({ workspaceUuid: '00000000-0000-4000-8000-000000000001' });
  await writeFile(file, JSON.stringify(key));
  return key;
}

if (process.argv[1] === import.meta.filename) await main();
