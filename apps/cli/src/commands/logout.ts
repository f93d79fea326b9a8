import { createClient, UnauthorizedError } from '@svc/sdk';
import type { Command } from 'commander';
import { usageFailure } from '../client/command-failure.ts';
import { DEFAULT_PROFILE, readProfile, writeProfile } from '../client/profiles.ts';
import { withSession } from '../client/session.ts';

interface LogoutFlags {
  profile?: string;
  json?: boolean;
}

/** `svc logout`: deletes the saved profile and revokes the token created by the login. */
export function registerLogoutCommand(program: Command): void {
  program
    .command('logout')
    .description('Sign out and revoke the token created by svc login')
    .option('--profile <name>', 'Profile to sign out of', DEFAULT_PROFILE)
    .option('--json', 'Print JSON')
    .action((flags: LogoutFlags) =>
      withSession(flags, async ({ environment, output, signal }) => {
        const name = flags.profile ?? DEFAULT_PROFILE;
        const profile = await readProfile(environment.configFolder, name);
        if (profile === null) throw usageFailure(`profile ${JSON.stringify(name)} not found`);
        if (profile.tokenId !== null) {
          const svc = createClient({ baseUrl: profile.url, credential: { kind: 'token', token: profile.token } });
          await svc.accounts.revokeToken(profile.tokenId, { signal }).catch((error: unknown) => {
            if (!(error instanceof UnauthorizedError)) throw error; // otherwise it was already revoked
          });
        }
        await writeProfile(environment.configFolder, name, null);
        output.answer({ profile: name, url: profile.url, forgotten: true }, [`Signed out of ${profile.url}`]);
      }),
    );
}
