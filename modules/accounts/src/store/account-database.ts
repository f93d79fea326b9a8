import type { Database } from '@svc/sql';
import { CamelCasePlugin, type Kysely } from 'kysely';
import type { AccountDatabase, AccountStores, AuditStore, IdentityStore, ThrottleStore } from '../domain/stores.ts';
import { createApiTokenStore } from './api-token-store.ts';
import { createAuditChainStore, extendChain } from './audit-chain-store.ts';
import { extendChainPipelined } from './audit-chain-pipeline.ts';
import { createDeviceStore } from './device-store.ts';
import { createInvitationStore } from './invitation-store.ts';
import { createMemberStore } from './member-store.ts';
import { createPasswordLinkStore } from './password-link-store.ts';
import { createQuotaOverrideStore } from './quota-override-store.ts';
import { createServiceAccountStore } from './service-account-store.ts';
import { createSessionStore } from './session-store.ts';
import { createSshKeyStore } from './ssh-key-store.ts';
import type { AccountTables } from './tables.ts';
import { createTeamStore } from './team-store.ts';
import { createUserStore } from './user-store.ts';
import { createWorkspaceStore } from './workspace-store.ts';

/** The stores over SQLite or PostgreSQL. The database must be migrated; the opener closes it. */
export function createAccountDatabase<Tables>(
  database: Pick<Database<Tables>, 'kysely' | 'dialect' | 'pipelines'>,
): AccountDatabase {
  const { dialect, pipelines } = database;
  // All modules share the database; this one sees only its own tables.
  const kysely = (database.kysely as unknown as Kysely<AccountTables>).withPlugin(new CamelCasePlugin());
  const transactAudit: AccountDatabase['transactAudit'] = (work) =>
    kysely.transaction().execute((transaction) => work(createAuditChainStore(transaction, dialect)));
  return {
    ...storesOn(kysely),
    transactAudit,
    extendAudit: (count, link) =>
      pipelines === undefined
        ? transactAudit((chain) => extendChain(chain, count, link))
        : extendChainPipelined(pipelines, count, link),
    readAudit: (work) =>
      kysely
        .transaction()
        .setAccessMode('read only')
        .setIsolationLevel('repeatable read')
        .execute((transaction) => work(createAuditChainStore(transaction, dialect))),
    transact: (work) => kysely.transaction().execute((transaction) => work(storesOn(transaction))),
  };
}

function storesOn(kysely: Kysely<AccountTables>): AccountStores {
  return {
    users: createUserStore(kysely),
    identities: createIdentityStore(kysely),
    sessions: createSessionStore(kysely),
    devices: createDeviceStore(kysely),
    passwordLinks: createPasswordLinkStore(kysely),
    apiTokens: createApiTokenStore(kysely),
    sshKeys: createSshKeyStore(kysely),
    teams: createTeamStore(kysely),
    members: createMemberStore(kysely),
    invitations: createInvitationStore(kysely),
    workspaces: createWorkspaceStore(kysely),
    serviceAccounts: createServiceAccountStore(kysely),
    quotaOverrides: createQuotaOverrideStore(kysely),
    throttles: createThrottleStore(kysely),
    audit: createAuditStore(kysely),
  };
}

function createAuditStore(kysely: Kysely<AccountTables>): AuditStore {
  return {
    list(filter, limit, beforeSequence) {
      let query = kysely
        .selectFrom('accountAudit')
        .selectAll()
        .orderBy('sequence', 'desc')
        .limit(limit + 1);
      const { workspaceUuid, actor, action, since, concerningUserId } = filter;
      if (workspaceUuid !== undefined) query = query.where('workspaceUuid', '=', workspaceUuid);
      if (actor !== undefined) {
        query = query.where((expression) =>
          expression.or([expression('actorId', '=', actor), expression('actorName', '=', actor)]),
        );
      }
      if (action !== undefined) query = query.where('action', '=', action);
      if (since !== undefined) query = query.where('occurredAt', '>=', since);
      if (concerningUserId !== undefined) {
        query = query.where((expression) =>
          expression.or([
            expression('actorId', '=', concerningUserId),
            expression('resource', '=', `user/${concerningUserId}`),
          ]),
        );
      }
      if (beforeSequence !== null) query = query.where('sequence', '<', beforeSequence);
      return query.execute();
    },
  };
}

function createIdentityStore(kysely: Kysely<AccountTables>): IdentityStore {
  return {
    bySubject: (issuer, subject) =>
      kysely
        .selectFrom('accountIdentity')
        .selectAll()
        .where('issuer', '=', issuer)
        .where('subject', '=', subject)
        .executeTakeFirst(),
    async insert(identity) {
      const result = await kysely
        .insertInto('accountIdentity')
        .values(identity)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return Number(result.numInsertedOrUpdatedRows) === 1;
    },
  };
}

function createThrottleStore(kysely: Kysely<AccountTables>): ThrottleStore {
  return {
    async lock(keys, nowMs) {
      // An update locks a row, a read does not; the rows must exist, or two replicas would both find nothing counted.
      const rows = await kysely
        .insertInto('accountThrottle')
        .values(keys.map((key) => ({ key, amount: 0, atMs: nowMs })))
        .onConflict((conflict) => conflict.column('key').doUpdateSet((row) => ({ key: row.ref('excluded.key') })))
        .returningAll()
        .execute();
      return keys.map((key) => rows.find((row) => row.key === key) ?? { key, amount: 0, atMs: nowMs });
    },
    async save(attempts) {
      await kysely
        .insertInto('accountThrottle')
        .values([...attempts])
        .onConflict((conflict) =>
          conflict
            .column('key')
            .doUpdateSet((row) => ({ amount: row.ref('excluded.amount'), atMs: row.ref('excluded.atMs') })),
        )
        .execute();
    },
    async deleteUntouched(beforeMs, limit) {
      const old = kysely.selectFrom('accountThrottle').select('key').where('atMs', '<', beforeMs).limit(limit);
      return Number(
        (await kysely.deleteFrom('accountThrottle').where('key', 'in', old).executeTakeFirst()).numDeletedRows,
      );
    },
  };
}
