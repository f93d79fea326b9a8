import { readFile } from 'node:fs/promises';
import { createClient, type SshKey, type SvcClient } from '@svc/sdk';
import type { Command } from 'commander';
import { usageFailure } from '../client/command-failure.ts';
import type { ConnectionFlags, Target } from '../client/connection.ts';
import { printable } from '../client/output.ts';
import { readSecret } from '../client/read-secret.ts';
import { addConnectionOptions, withSession, type Session } from '../client/session.ts';

interface ConfirmFlags extends ConnectionFlags {
  email?: string;
  passwordStdin?: boolean;
}

interface AddFlags extends ConfirmFlags {
  name?: string;
}

/** `svc ssh-key …`: keys to log in to sandboxes with. */
export function registerSshKeyCommand(program: Command): void {
  const key = program.command('ssh-key').description('Manage the public keys that log you in over SSH');
  registerAdd(key);
  registerList(key);
  registerRemove(key);
}

function registerAdd(parent: Command): void {
  addPasswordOptions(parent.command('add'))
    .description('Register a public key; asks for your password')
    .argument('<file>', 'Public key, such as ~/.ssh/id_ed25519.pub')
    .option('--name <text>', 'Name (default: the comment of the key)')
    .action((file: string, flags: AddFlags) =>
      withSession(flags, async (session) => {
        const publicKey = await readFile(file, 'utf8');
        if (publicKey.includes('PRIVATE KEY')) throw usageFailure(`${file} is a private key`, `use ${file}.pub`);
        const name = flags.name ?? publicKey.trim().split(/\s+/).slice(2).join(' ').slice(0, 100);
        if (name === '') throw usageFailure('the key has no comment to name it by', 'use --name');
        await withSignIn(flags, session, async (svc) => {
          const made = await svc.accounts.addSshKey({ name, publicKey }, { signal: session.signal });
          session.output.answer(made, [`Added SSH key ${printable(made.name)}`, made.fingerprint]);
        });
      }),
    );
}

function registerList(parent: Command): void {
  addConnectionOptions(parent.command('ls'))
    .description('List your SSH keys')
    .action((flags: ConnectionFlags) =>
      withSession(flags, async ({ target, output, signal }) => {
        const found = await listKeys(clientOf(await target()), signal);
        const rows = found.map(({ id, name, fingerprint, last_used_at: used }) => [
          id,
          name,
          fingerprint,
          used ?? 'never',
        ]);
        output.answerTable(found, ['ID', 'NAME', 'FINGERPRINT', 'LAST USED'], rows);
      }),
    );
}

function registerRemove(parent: Command): void {
  addPasswordOptions(parent.command('rm'))
    .description('Remove a key; its connections end within two seconds. Asks for your password')
    .argument('<id or fingerprint>')
    .action((which: string, flags: ConfirmFlags) =>
      withSession(flags, (session) =>
        withSignIn(flags, session, async (svc) => {
          const found = (await listKeys(svc, session.signal)).find((key) => [key.id, key.fingerprint].includes(which));
          if (found === undefined) throw usageFailure(`you have no SSH key ${printable(which)}`, 'see svc ssh-key ls');
          await svc.accounts.removeSshKey(found.id, { signal: session.signal });
          session.output.answer({ id: found.id, deleted: true }, [`Removed SSH key ${printable(found.name)}`]);
        }),
      ),
    );
}

function addPasswordOptions(command: Command): Command {
  return addConnectionOptions(command)
    .option('--email <email>', 'Your email (default: that of the token)')
    .option('--password-stdin', 'Read the password from standard input instead of prompting');
}

/** A token may not change what its user logs in with, so the password opens a session for this one call. */
async function withSignIn(
  { email, passwordStdin = false }: ConfirmFlags,
  { target, signal }: Session,
  run: (svc: SvcClient) => Promise<void>,
): Promise<void> {
  const found = await target();
  const known = email ?? (await clientOf(found).accounts.me({ signal })).user?.email;
  if (known === undefined) throw usageFailure('service accounts have no SSH keys', 'use --email to sign in as a user');
  const password = await readSecret('Password', { piped: passwordStdin });
  const anonymous = createClient({ baseUrl: found.url, credential: { kind: 'none' } });
  const { access_token: token } = await anonymous.accounts.signIn({ email: known, password }, { signal });
  const svc = clientOf({ url: found.url, token });
  try {
    await run(svc);
  } finally {
    await svc.accounts.signOut();
  }
}

function clientOf({ url, token }: Pick<Target, 'url' | 'token'>): SvcClient {
  return createClient({ baseUrl: url, credential: { kind: 'token', token } });
}

async function listKeys(svc: SvcClient, signal: AbortSignal): Promise<SshKey[]> {
  const found: SshKey[] = [];
  let cursor: string | undefined;
  do {
    const page = await svc.accounts.sshKeys({ cursor }, { signal });
    found.push(...page.items);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return found;
}
