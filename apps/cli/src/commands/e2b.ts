import type { Command } from 'commander';
import type { ConnectionFlags } from '../client/connection.ts';
import { readMoment } from '../client/key-request.ts';
import { addConnectionOptions, withSession } from '../client/session.ts';

interface E2bFlags extends ConnectionFlags {
  name: string;
  expires?: string;
}

/** `svc e2b`: what E2B clients need to use this platform, in one command. */
export function registerE2bCommand(program: Command): void {
  addConnectionOptions(program.command('e2b'))
    .description('Create a key for E2B clients and print their settings for eval "$(svc e2b)"')
    .option('--name <text>', 'Name of the service account (default e2b)', 'e2b')
    .option('--expires <when>', 'Expiry: a duration such as 12h or 30d, or a time such as 2027-01-31T00:00:00Z')
    .action((flags: E2bFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const { svc, url, workspaceUuid, teamUuid } = await connect();
        const expiry = flags.expires === undefined ? {} : { expires_at: readMoment(flags.expires, Date.now()) };
        const { token } = await svc.serviceAccounts.create(
          { workspaceUuid, teamUuid },
          { name: flags.name, scopes: ['write'], token_format: 'e2b', ...expiry },
          { signal },
        );
        const address = url.replace(/(?<!\/)\/+$/, '');
        const settings = {
          E2B_API_URL: `${address}/e2b`,
          E2B_SANDBOX_URL: `${address}/e2b/envd`,
          E2B_VOLUME_API_URL: `${address}/e2b`,
          E2B_API_KEY: token,
        };
        output.answer(
          settings,
          Object.entries(settings).map(([name, value]) => `export ${name}='${value.replaceAll("'", '%27')}'`),
        );
      }),
    );
}
