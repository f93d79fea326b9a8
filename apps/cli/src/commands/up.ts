import type { Command } from 'commander';
import { leaveOutWebSockets, postponeOptimizing } from '../start/lean-start.ts';

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

/** `svc up`: installs missing requirements and starts the platform. */
export function registerUpCommand(program: Command): void {
  addStartOptions(program.command('up'))
    .description('Start the platform and install missing system packages')
    .action((flags: UpFlags) => start(flags, { prepare: true }));
}

/** `svc platform`: starts the platform without preparing anything. */
export function registerPlatformCommand(program: Command): void {
  addStartOptions(program.command('platform'))
    .description('Start the platform without installing anything')
    .action((flags: UpFlags) => start(flags, { prepare: false }));
}

/** Loads the platform only here, after the necessary setup. */
async function start(flags: UpFlags, options: { prepare: boolean }): Promise<void> {
  leaveOutWebSockets();
  const optimizeAgain = postponeOptimizing();
  const { startFromCommandLine } = await import('../start/start.ts');
  await startFromCommandLine(flags, { ...options, onReady: optimizeAgain });
}

function addStartOptions(command: Command): Command {
  return command
    .option('--data <dir>', 'Data folder (default ./data)')
    .option('--port <port>', 'HTTP port of the API and the console (default 4000; 0 picks a free one)')
    .option('--http <mode>', 'Plain HTTP: serve (default), redirect to TLS, or off')
    .option('--https-port <port>', 'HTTPS port of the API and the console (default 4443; 0 picks a free one)')
    .option('--s3-port <port>', 'Port of the S3 API (default 9000; 0 picks a free one)')
    .option('--s3-https-port <port>', 'HTTPS port of the S3 API (default off; 0 picks a free one)')
    .option('--host <address>', 'Address to listen on (default 127.0.0.1)')
    .option('--config <file>', 'Configuration file (YAML)')
    .option('--json', 'Print one line of JSON when ready');
}
