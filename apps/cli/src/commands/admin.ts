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

/** `svc admin …`: for whoever may read the data folder; works while the platform runs and while it does not. */
export function registerAdminCommand(program: Command): void {
  const admin = program.command('admin').description('what only the operator of the data folder may do');
  admin
    .command('reset-password')
    .description("set the password of a user and end all of the user's sessions")
    .requiredOption('--email <email>', 'the user')
    .requiredOption('--password-stdin', 'read the new password from standard input')
    .option('--data <dir>', 'data folder (default ./data)')
    .option('--config <file>', 'configuration file (YAML)')
    .action(async (flags: AdminFlags) => {
      const config = readConfiguration(flags).value;
      await resetPassword(config, flags.email ?? '', await readPassword(process.stdin));
      process.stdout.write(`The password of ${flags.email} is set; all of the user's sessions have ended\n`);
    });
  admin
    .command('password-link')
    .description('make a single-use link with which a user sets a password')
    .requiredOption('--email <email>', 'the user')
    .option('--data <dir>', 'data folder (default ./data)')
    .option('--config <file>', 'configuration file (YAML)')
    .action(async (flags: AdminFlags) => {
      const { url, expiresAt } = await createPasswordLink(readConfiguration(flags).value, flags.email ?? '');
      process.stdout.write(`${url}\nHand it to ${flags.email} alone; it works once, until ${expiresAt}\n`);
    });
  registerKeyCommands(admin);
  registerAuditCommand(admin);
  registerDomainCommands(admin);
  registerAdminQuota(admin);
}

function registerDomainCommands(admin: Command): void {
  const domain = admin.command('domain').description('stop and release custom domains of buckets');
  for (const [verb, blocked, description, done] of [
    ['block', true, 'stop a host name, whoever registers it', 'is blocked'],
    ['unblock', false, 'let a host name go on that was blocked', 'is not blocked any more'],
  ] as const) {
    domain
      .command(`${verb} <hostname>`)
      .description(description)
      .option('--data <dir>', 'data folder (default ./data)')
      .option('--config <file>', 'configuration file (YAML)')
      .action(async (hostname: string, flags: AdminFlags) => {
        const name = await setDomainBlocked(readConfiguration(flags).value, hostname, blocked);
        process.stdout.write(`${name} ${done}\n`);
      });
  }
}

const MAX_PASSWORD_BYTES = 4096;

/** Never an argument: those stand in the process list. One line break at the end belongs to the shell. */
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
