import { createPasswordLink, resetPassword, setDomainBlocked } from '@svc/platform';
import { AppError } from '@svc/errors';
import type { Command } from 'commander';
import { readConfiguration } from '../configuration.ts';
import { registerAuditCommand } from './admin/verify-audit.ts';
import { registerKeyCommands } from './admin/keys.ts';
import { registerAdminQuota } from './admin-quota.ts';

interface AdminFlags {
  data?: string;
  config?: string;
  email?: string;
  passwordStdin?: boolean;
}

/** `svc admin …`: requires read access to the data folder; works whether or not the platform is running. */
export function registerAdminCommand(program: Command): void {
  const admin = program.command('admin').description('Administer a platform from its data folder');
  admin
    .command('reset-password')
    .description("Set the password of a user and end all of the user's sessions")
    .requiredOption('--email <email>', 'Email address of the user')
    .requiredOption('--password-stdin', 'Read the new password from standard input')
    .option('--data <dir>', 'Data folder (default ./data)')
    .option('--config <file>', 'Configuration file (YAML)')
    .action(async (flags: AdminFlags) => {
      const config = readConfiguration(flags).value;
      await resetPassword(config, flags.email ?? '', await readPassword(process.stdin));
      process.stdout.write(`The password of ${flags.email} is set; all of the user's sessions have ended\n`);
    });
  admin
    .command('password-link')
    .description('Create a single-use link to set a password')
    .requiredOption('--email <email>', 'Email address of the user')
    .option('--data <dir>', 'Data folder (default ./data)')
    .option('--config <file>', 'Configuration file (YAML)')
    .action(async (flags: AdminFlags) => {
      const { url, expiresAt } = await createPasswordLink(readConfiguration(flags).value, flags.email ?? '');
      process.stdout.write(`${url}\nSend it to ${flags.email} only; it works once and expires at ${expiresAt}\n`);
    });
  registerKeyCommands(admin);
  registerAuditCommand(admin);
  registerDomainCommands(admin);
  registerAdminQuota(admin);
}

function registerDomainCommands(admin: Command): void {
  const domain = admin.command('domain').description('Block and unblock custom domains');
  for (const [verb, blocked, description, done] of [
    ['block', true, 'Block a hostname for all workspaces', 'is blocked'],
    ['unblock', false, 'Unblock a hostname', 'is no longer blocked'],
  ] as const) {
    domain
      .command(`${verb} <hostname>`)
      .description(description)
      .option('--data <dir>', 'Data folder (default ./data)')
      .option('--config <file>', 'Configuration file (YAML)')
      .action(async (hostname: string, flags: AdminFlags) => {
        const name = await setDomainBlocked(readConfiguration(flags).value, hostname, blocked);
        process.stdout.write(`${name} ${done}\n`);
      });
  }
}

const MAX_PASSWORD_BYTES = 4096;

/** Reads from stdin, never from arguments, which the process list shows. Drops one trailing line break. */
async function readPassword(input: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of input) {
    text += String(chunk);
    if (text.length > MAX_PASSWORD_BYTES) {
      throw new AppError({
        code: 'PASSWORD_TOO_LONG',
        status: 400,
        message: `the password is longer than ${MAX_PASSWORD_BYTES} bytes`,
      });
    }
  }
  return text.replace(/\r?\n$/, '');
}
