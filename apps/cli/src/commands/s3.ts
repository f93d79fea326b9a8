import type { Command } from 'commander';
import { registerS3Configure } from './s3/configure.ts';
import { registerS3Env } from './s3/env.ts';

/** `svc s3 …` */
export function registerS3Command(program: Command): void {
  const s3 = program.command('s3').description('Configure other S3 clients: aws, rclone, s3cmd, restic');
  registerS3Env(s3);
  registerS3Configure(s3);
}
