import { createClient } from '@svc/sdk';
import type { Command } from 'commander';
import { usageFailure } from '../client/command-failure.ts';
import { assertWebAddress } from '../client/connection.ts';
import { DEFAULT_PROFILE, profilesPath, writeProfile, type Profile } from '../client/profiles.ts';
import { readSecret } from '../client/read-secret.ts';
import { withSession, type Session } from '../client/session.ts';

interface LoginFlags {
  url?: string;
  profile?: string;
  email?: string;
  passwordStdin?: boolean;
  tokenStdin?: boolean;
  workspace?: string;
  team?: string;
  json?: boolean;
}

/** `svc login`: saves an address and a token in a file readable only by its owner. */
export function registerLoginCommand(program: Command): void {
  program
    .command('login')
    .description('Sign in to a platform and save the credentials')
    .option('--url <address>', 'Platform URL (default SVC_URL, then http://127.0.0.1:4000)')
    .option('--profile <name>', 'Save the credentials in this profile', DEFAULT_PROFILE)
    .option('--email <email>', 'Sign in as this user; creates an API token for this machine')
    .option('--password-stdin', 'Read the password from standard input instead of prompting')
    .option('--token-stdin', 'Read a token (svc_pat_…, sat_…) from standard input instead')
    .option('--workspace <uuid or name>', 'Default workspace of the profile (default your own)')
    .option('--team <uuid>', 'Team that gives you access to the workspace')
    .option('--json', 'Print JSON')
    .action((flags: LoginFlags) => withSession(flags, (session) => login(flags, session)));
}

async function login(flags: LoginFlags, { environment, output, signal }: Session): Promise<void> {
  const url = (flags.url ?? environment.url ?? 'http://127.0.0.1:4000').replace(/(?<!\/)\/+$/, '');
  assertWebAddress(url);
  const name = flags.profile ?? DEFAULT_PROFILE;
  const given = flags.tokenStdin === true ? await readSecret('Token', { piped: true }) : null;
  if (given === null && flags.email === undefined) {
    throw usageFailure('no credentials given', 'use --email, or --token-stdin');
  }
  const token = given === null ? await makeToken(url, flags, environment.hostname, signal) : { token: given, id: null };
  const svc = createClient({ baseUrl: url, credential: { kind: 'token', token: token.token } });
  const caller = await svc.accounts.me({ signal });
  const profile: Profile = {
    url,
    token: token.token,
    tokenId: token.id,
    workspace: flags.workspace ?? null,
    team: flags.team ?? null,
  };
  await writeProfile(environment.configFolder, name, profile);
  const who = caller.user?.email ?? caller.service_account?.name ?? 'a service account';
  const path = profilesPath(environment.configFolder);
  output.answer({ url, profile: name, caller: who, file: path }, [`Signed in to ${url} as ${who}`, `Saved to ${path}`]);
}

/** Creates a token for this machine only, so that signing out here does not affect other machines. */
async function makeToken(
  url: string,
  flags: LoginFlags,
  hostname: string,
  signal: AbortSignal,
): Promise<{ token: string; id: string }> {
  const password = await readSecret('Password', { piped: flags.passwordStdin === true });
  const anonymous = createClient({ baseUrl: url, credential: { kind: 'none' } });
  const signIn = await anonymous.accounts.signIn({ email: flags.email ?? '', password }, { signal });
  const svc = createClient({ baseUrl: url, credential: { kind: 'token', token: signIn.access_token } });
  const { token, id } = await svc.accounts.createToken({ name: `svc command on ${hostname}`.slice(0, 64) }, { signal });
  return { token, id };
}
