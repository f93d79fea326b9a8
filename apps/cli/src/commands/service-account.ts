import type { ServiceAccount, ServiceAccountScope } from '@svc/sdk';
import type { Command } from 'commander';
import { usageFailure } from '../client/command-failure.ts';
import type { ConnectionFlags } from '../client/connection.ts';
import { readMoment } from '../client/key-request.ts';
import { addConnectionOptions, withSession } from '../client/session.ts';

interface CreateFlags extends ConnectionFlags {
  scope?: string[];
  expires?: string;
}

/** `svc service-account …` */
export function registerServiceAccountCommand(program: Command): void {
  const account = program.command('service-account').description('Manage service accounts');
  registerList(account);
  registerCreate(account);
  registerRename(account);
  registerRemove(account);
}

function registerList(parent: Command): void {
  addConnectionOptions(parent.command('ls'))
    .description('List service accounts, without their tokens')
    .action((flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const { svc, workspaceUuid, teamUuid } = await connect();
        const found: ServiceAccount[] = [];
        let cursor: string | undefined;
        do {
          const page = await svc.serviceAccounts.list({ workspaceUuid, teamUuid }, { cursor }, { signal });
          found.push(...page.items);
          cursor = page.nextCursor ?? undefined;
        } while (cursor !== undefined);
        output.answerTable(
          found,
          ['ID', 'NAME', 'SCOPES', 'EXPIRES', 'LAST USED'],
          found.map(({ id, name, scopes, expires_at: expires, last_used_at: used }) => [
            id,
            name,
            scopes.join(','),
            expires ?? 'never',
            used ?? 'never',
          ]),
        );
      }),
    );
}

function registerCreate(parent: Command): void {
  addConnectionOptions(parent.command('create'))
    .description('Create a service account; its token is shown only once')
    .argument('<name>')
    .option('--scope <name...>', 'Scopes: read, write, admin (default write)')
    .option('--expires <when>', 'Expiry: a duration such as 12h or 30d, or a time such as 2027-01-31T00:00:00Z')
    .action((name: string, flags: CreateFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const { svc, workspaceUuid, teamUuid } = await connect();
        const scopes = flags.scope?.flatMap((each) => each.split(',')).map(readScope) ?? ['write'];
        const expiry = flags.expires === undefined ? {} : { expires_at: readMoment(flags.expires, Date.now()) };
        const wanted = { name, scopes, ...expiry };
        const made = await svc.serviceAccounts.create({ workspaceUuid, teamUuid }, wanted, { signal });
        output.answer(made, [
          `ID       ${made.id}`,
          `Token    ${made.token}`,
          `Scopes   ${made.scopes.join(', ')}`,
          'The token is not shown again.',
        ]);
      }),
    );
}

function registerRename(parent: Command): void {
  addConnectionOptions(parent.command('rename'))
    .description('Rename a service account')
    .argument('<id>')
    .argument('<name>')
    .action((id: string, name: string, flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const { svc, workspaceUuid, teamUuid } = await connect();
        const renamed = await svc.serviceAccounts.rename({ workspaceUuid, teamUuid }, id, name, { signal });
        output.answer(renamed, [`Renamed ${id} to ${renamed.name}`]);
      }),
    );
}

function registerRemove(parent: Command): void {
  addConnectionOptions(parent.command('rm'))
    .description('Revoke a service account; takes effect within two seconds')
    .argument('<id>')
    .action((id: string, flags: ConnectionFlags) =>
      withSession(flags, async ({ connect, output, signal }) => {
        const { svc, workspaceUuid, teamUuid } = await connect();
        await svc.serviceAccounts.delete({ workspaceUuid, teamUuid }, id, { signal });
        output.answer({ id, revoked: true }, [`Revoked ${id}`]);
      }),
    );
}

function readScope(name: string): ServiceAccountScope {
  if (name === 'read' || name === 'write' || name === 'admin') return name;
  throw usageFailure(`${JSON.stringify(name)} is not a scope`, 'use read, write, or admin');
}
