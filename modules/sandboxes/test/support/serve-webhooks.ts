import { migrations } from '@svc/migrations';
import { migrate, openDatabase } from '@svc/sql';
import { Value } from 'typebox/value';
import { sandboxesConfigSchema } from '../../src/config.ts';
import { FakeDriver } from './fake-driver.ts';
import { startPlatform } from './platform.ts';

/** Serves sandboxes of the fake driver on the database file of the first argument, until it is killed. */
const [file = ''] = process.argv.slice(2);
const database = openDatabase<unknown>({ file });
await migrate(database, migrations);
const { webhooks } = Value.Create(sandboxesConfigSchema);
const platform = await startPlatform({
  driver: new FakeDriver(),
  database,
  config: { webhooks: { ...webhooks, allowed_networks: ['127.0.0.0/8'], timeout_seconds: 20, retry_seconds: 1 } },
});
process.stdout.write(`${JSON.stringify({ url: platform.url, headers: platform.owner.headers })}\n`);
