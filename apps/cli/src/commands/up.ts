import type { Command } from 'commander';
import { leaveOutWebSockets } from '../start/leave-out-web-sockets.ts';

export interface UpFlags {
  data?: string;
  port?: string;
  http?: string;
  httpsPort?: string;
  s3Port?: string;
  s3HttpsPort?: string;
  host?: string;
  config?: string;
  json?: boolean;
}

/** `svc up`: prepares what is missing and starts the platform. */
export function registerUpCommand(program: Command): void {
  addStartOptions(program.command('up'))
    .description('prepare this machine if needed and start the platform')
    .action((flags: UpFlags) => start(flags, { prepare: true }));
}

/** `svc platform`: only starts it. */
export function registerPlatformCommand(program: Command): void {
  addStartOptions(program.command('platform'))
    .description('start the platform without installing anything')
    .action((flags: UpFlags) => start(flags, { prepare: false }));
}

/** Loads the platform only here, after what must come before any of it. */
async function start(flags: UpFlags, options: { prepare: boolean }): Promise<void> {
  leaveOutWebSockets();
  const { startFromCommandLine } = await import('../start/start.ts');
  await startFromCommandLine(flags, options);
}

function addStartOptions(command: Command): Command {
  return command
    .option('--data <dir>', 'data folder (default ./data)')
    .option('--port <port>', 'port of the API and the console (default 4000, 0 = any free one)')
    .option('--http <mode>', 'plain HTTP: serve (default), redirect to TLS, or off')
    .option('--https-port <port>', 'port of the same with TLS (default 4443, 0 = any free one)')
    .option('--s3-port <port>', 'port of the S3 data plane (default 9000, 0 = any free one)')
    .option('--s3-https-port <port>', 'port of the same with TLS (default: off, 0 = any free one)')
    .option('--host <address>', 'address to listen on (default 127.0.0.1)')
    .option('--config <file>', 'configuration file (YAML)')
    .option('--json', 'print one line of JSON when ready');
}
