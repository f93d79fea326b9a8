import type { Command } from 'commander';
import { registerBucketCreate } from './bucket/create.ts';
import { registerBucketDeleted } from './bucket/deleted.ts';
import { registerBucketEncryption } from './bucket/encryption.ts';
import { registerBucketFork } from './bucket/fork.ts';
import { registerBucketLifecycle } from './bucket/lifecycle.ts';
import { registerBucketList } from './bucket/list.ts';
import { registerBucketLocation } from './bucket/location.ts';
import { registerBucketRemove } from './bucket/remove.ts';
import { registerBucketRestore } from './bucket/restore.ts';
import { registerBucketSettings } from './bucket/settings.ts';
import { registerBucketUrls } from './bucket/urls.ts';
import { registerBucketUsage } from './bucket/usage.ts';
import { registerBucketVersioning } from './bucket/versioning.ts';

/** `svc bucket …` */
export function registerBucketCommand(program: Command): void {
  const bucket = program.command('bucket').description('Manage buckets and their settings');
  registerBucketList(bucket);
  registerBucketCreate(bucket);
  registerBucketFork(bucket);
  registerBucketRemove(bucket);
  registerBucketDeleted(bucket);
  registerBucketRestore(bucket);
  registerBucketSettings(bucket);
  registerBucketVersioning(bucket);
  registerBucketEncryption(bucket);
  registerBucketLifecycle(bucket);
  registerBucketLocation(bucket);
  registerBucketUrls(bucket);
  registerBucketUsage(bucket);
}
