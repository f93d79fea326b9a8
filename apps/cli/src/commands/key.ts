import type { Command } from 'commander';
import { registerKeyCreate } from './key/create.ts';
import { registerKeyList } from './key/list.ts';
import { registerKeyRemove } from './key/remove.ts';

/** `svc key …` */
export function registerKeyCommand(program: Command): void {
  const key = program.command('key').description('Manage access keys for the S3 API');
  registerKeyList(key);
  registerKeyCreate(key);
  registerKeyRemove(key);
}
