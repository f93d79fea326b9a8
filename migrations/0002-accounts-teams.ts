import type { Migration } from '@svc/sql';

/** Teams, workspaces and who reaches them. */
export const accountsTeams: Migration = {
  name: '0002-accounts-teams',
  target: 'platform',
  up: async (kysely) => {
    await kysely.schema
      .createTable('account_team')
      .addColumn('uuid', 'text', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('owner_id', 'text', (column) => column.notNull().references('account_user.id'))
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .execute();

    await kysely.schema
      .createTable('account_member')
      .addColumn('team_uuid', 'text', (column) => column.notNull().references('account_team.uuid').onDelete('cascade'))
      .addColumn('user_id', 'text', (column) => column.notNull().references('account_user.id').onDelete('cascade'))
      .addColumn('role', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('account_member_key', ['team_uuid', 'user_id'])
      .execute();
    await kysely.schema
      .createIndex('account_member_user')
      .on('account_member')
      .columns(['user_id', 'team_uuid'])
      .execute();

    await kysely.schema
      .createTable('account_invitation')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('team_uuid', 'text', (column) => column.notNull().references('account_team.uuid').onDelete('cascade'))
      .addColumn('email', 'text', (column) => column.notNull())
      .addColumn('role', 'text', (column) => column.notNull())
      .addColumn('token_hash', 'text', (column) => column.notNull().unique())
      .addColumn('invited_by', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'text', (column) => column.notNull())
      .addColumn('accepted_at', 'text')
      .addColumn('accepted_by', 'text')
      .execute();
    await kysely.schema
      .createIndex('account_invitation_team')
      .on('account_invitation')
      .columns(['team_uuid', 'created_at', 'id'])
      .execute();
    await kysely.schema
      .createIndex('account_invitation_expiry')
      .on('account_invitation')
      .column('expires_at')
      .execute();

    await kysely.schema
      .createTable('account_workspace')
      .addColumn('uuid', 'text', (column) => column.primaryKey())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('owner_id', 'text', (column) => column.notNull().references('account_user.id'))
      .addColumn('team_uuid', 'text', (column) => column.references('account_team.uuid').onDelete('set null'))
      // Set while a deletion looks whether anything is left inside: nobody is let in any more.
      .addColumn('deleting_since', 'text')
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('updated_at', 'text', (column) => column.notNull())
      .execute();
    await kysely.schema
      .createIndex('account_workspace_owner')
      .on('account_workspace')
      .columns(['owner_id', 'created_at', 'uuid'])
      .execute();
    await kysely.schema
      .createIndex('account_workspace_team')
      .on('account_workspace')
      .columns(['team_uuid', 'created_at', 'uuid'])
      .execute();

    await kysely.schema
      .createTable('account_service_account')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('workspace_uuid', 'text', (column) =>
        column.notNull().references('account_workspace.uuid').onDelete('cascade'),
      )
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('token_hash', 'text', (column) => column.notNull().unique())
      // Comma-separated: read, write, admin.
      .addColumn('scopes', 'text', (column) => column.notNull())
      .addColumn('created_by', 'text', (column) => column.notNull())
      .addColumn('created_at', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'text')
      .addColumn('last_used_at', 'text')
      .execute();
    await kysely.schema
      .createIndex('account_service_account_workspace')
      .on('account_service_account')
      .columns(['workspace_uuid', 'created_at', 'id'])
      .execute();
  },
};
