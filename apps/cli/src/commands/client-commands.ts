import type { Command } from 'commander';
import { registerBucketCommand } from './bucket.ts';
import { registerDomainCommand } from './domain.ts';
import { registerKeyCommand } from './key.ts';
import { registerLoginCommand } from './login.ts';
import { registerLogoutCommand } from './logout.ts';
import { registerObjectCommand } from './object.ts';
import { registerS3Command } from './s3.ts';

/** Commands that talk to a platform anywhere. */
export function registerClientCommands(program: Command): void {
  registerLoginCommand(program);
  registerLogoutCommand(program);
  registerBucketCommand(program);
  registerObjectCommand(program);
  registerKeyCommand(program);
  registerDomainCommand(program);
  registerS3Command(program);
}
