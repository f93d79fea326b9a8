import type { Database } from '@svc/sql';
import { CamelCasePlugin, type Kysely } from 'kysely';
import type { AccountDatabase, AccountStores } from '../domain/stores.ts';
import { createApiTokenStore } from './api-token-store.ts';
import { createAuditChainStore } from './audit-chain-store.ts';
import { createAuditStore } from './audit-store.ts';
import { createDeviceStore } from './device-store.ts';
import { createIdentityStore } from './identity-store.ts';
import { createInvitationStore } from './invitation-store.ts';
import { createMemberStore } from './member-store.ts';
import { createPasswordLinkStore } from './password-link-store.ts';
import { createQuotaOverrideStore } from './quota-override-store.ts';
import { createServiceAccountStore } from './service-account-store.ts';
import { createSessionStore } from './session-store.ts';
import type { AccountTables } from './tables.ts';
import { createTeamStore } from './team-store.ts';
import { createUserStore } from './user-store.ts';
import { createWorkspaceStore } from './workspace-store.ts';

/** The stores over SQLite or PostgreSQL. The database must be migrated; the opener closes it. */
export function createAccountDatabase<Tables>(database: Pick<Database<Tables>, 'kysely' | 'dialect'>): AccountDatabase {
  const { dialect } = database;
  // All modules share the database; this one sees only its own tables.
  const kysely = (database.kysely as unknown as Kysely<AccountTables>).withPlugin(new CamelCasePlugin());
  return {
    ...storesOn(kysely),
    transactAudit: (work) =>
      kysely.transaction().execute((transaction) => work(createAuditChainStore(transaction, dialect))),
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
    teams: createTeamStore(kysely),
    members: createMemberStore(kysely),
    invitations: createInvitationStore(kysely),
    workspaces: createWorkspaceStore(kysely),
    serviceAccounts: createServiceAccountStore(kysely),
    quotaOverrides: createQuotaOverrideStore(kysely),
    audit: createAuditStore(kysely),
  };
}
