import type { BucketSettingsChange } from '@svc/sdk';
import type { Command } from 'commander';
import { usageFailure } from '../../client/command-failure.ts';
import type { ConnectionFlags } from '../../client/connection.ts';
import { readJsonArgument } from '../../client/json-argument.ts';
import { addConnectionOptions, withSession } from '../../client/session.ts';

export function registerBucketSettings(parent: Command): void {
  const settings = parent
    .command('settings')
    .description('Manage access, CORS, quota, soft delete, and other settings');
  addConnectionOptions(settings.command('get'))
    .description('Show the settings of a bucket as JSON')
    .argument('<bucket>')
    .action((bucket: string, flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const found = await (await connect()).store.buckets.settings(bucket, { signal });
        output.answer(found, [JSON.stringify(found, null, 2)]);
      }),
    );
  addConnectionOptions(settings.command('set'))
    .description('Change settings: NAME=JSON (publicDefault=true), @FILE, or @- for standard input')
    .argument('<bucket>')
    .argument('<changes...>', 'NAME=VALUE, or @FILE with a JSON object; null restores the default')
    .action((bucket: string, changes: string[], flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const body = await readChanges(changes);
        const changed = await (await connect()).store.buckets.changeSettings(bucket, body, { signal });
        output.answer(changed, [`Changed ${Object.keys(body).join(', ')} of bucket ${bucket}`]);
      }),
    );
}

/** Parses changes. The platform's schema validates names and values. */
async function readChanges(changes: readonly string[]): Promise<BucketSettingsChange> {
  let body: Record<string, unknown> = {};
  for (const change of changes) {
    if (change.startsWith('@')) {
      body = { ...body, ...(await readJsonArgument(change)) };
      continue;
    }
    const [name = '', ...rest] = change.split('=');
    if (name === '' || rest.length === 0) throw usageFailure(`${JSON.stringify(change)} is not NAME=VALUE`);
    const value = parseValue(rest.join('='));
    const [outer = '', inner] = name.split('.');
    // Settings are nested at most one level deep: quota.max_bytes=1000.
    body[outer] = inner === undefined ? value : { ...asObject(body[outer]), [inner]: value };
  }
  return body; // validated by the platform, which names the error
}

/** Parses JSON, or falls back to text, so that `cacheControl=no-store` needs no quotes. */
function parseValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}
