import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { migrations } from '@svc/migrations';
import { migrate, openDatabase } from '@svc/sql';
import { FakeBuckets } from './fake-buckets.ts';
import { FakeDriver } from './fake-driver.ts';
import { startPlatform } from './platform.ts';

/**
 * Serves sandboxes of the fake driver on a database, until it is killed. Buckets are files of a folder, `WORKSPACE+NAME` with the
 * id inside. The third argument says when a fork of a sandbox stops for good: `before` its last bucket exists, `after`, or
 * `removing` the bucket of a fork that did not start.
 */
const [file = '', folder = '', stop = 'never', forks = '0'] = process.argv.slice(2);
const database = openDatabase<unknown>({ file });
await migrate(database, migrations);
const buckets = new FakeBuckets();
for (const name of readdirSync(folder)) {
  buckets.ids.set(name.replace('+', '/'), Number(readFileSync(join(folder, name), 'utf8')));
}
const driver = new FakeDriver();
let starts = 0;
driver.beforeStart = async () => {
  starts += 1;
  if (stop === 'removing' && starts > 1) throw new Error('it does not start');
};
const forever = new Promise<never>(() => undefined);
const { fork } = buckets;
let left = Number(forks);
buckets.fork = async (source, options) => {
  left -= 1;
  if (stop === 'before' && left === 0) {
    process.stdout.write('stopped\n');
    return forever;
  }
  const made = await fork(source, options);
  writeFileSync(join(folder, `${made.workspaceUuid}+${made.bucketName}`), String(made.bucketId));
  if (stop !== 'after' || left > 0) return made;
  process.stdout.write('stopped\n');
  return forever;
};
const { discardFork } = buckets;
buckets.discardFork = async (named) => {
  if (stop === 'removing') {
    process.stdout.write('stopped\n');
    return forever;
  }
  await rm(join(folder, `${named.workspaceUuid}+${named.bucketName}`), { force: true });
  return discardFork(named);
};
const platform = await startPlatform({ driver, database, buckets });
const { workspaceUuid } = platform.owner;
buckets.ids.set(`${workspaceUuid}/photos`, 7);
process.stdout.write(`${JSON.stringify({ url: platform.url, headers: platform.owner.headers, workspaceUuid })}\n`);
