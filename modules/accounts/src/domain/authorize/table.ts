import {
  andGuestUsers,
  byAdmins,
  byAnybody,
  byConfirmedSelf,
  byOperator,
  byOwner,
  byReaders,
  bySelf,
  byTeam,
  byWriters,
  type Rule,
} from './rule.ts';

const EVERYBODY_IN_TEAM = ['team_owner', 'team_admin', 'team_member', 'team_guest'] as const;
const TEAM_ADMINS = ['team_owner', 'team_admin'] as const;

/**
 * The product's only permission table. Routes name an action, `authorize` looks it up here, and `docs/authorization.md`
 * is generated from it. An action missing here is refused.
 */
export const authorizeTable = {
  'session:create': byAnybody('Sign in with email and password'),
  'guest:create': byAnybody('Sign in as a guest, if guests are enabled'),
  'password-link:use': byAnybody('Set a password with a single-use link'),
  'invitation:accept': bySelf('Accept an invitation as the signed-in user; without a sign-in, the user is created'),

  'account:read': bySelf('Read your own account', ['user', 'service_account']),
  'account:update': byConfirmedSelf('Change your password'),
  'session:confirm': bySelf('Confirm a sign-in by password'),
  'session:delete': bySelf('Sign out; signing out everywhere requires a sign-in, not an API token'),
  'token:list': bySelf('List your API tokens'),
  'token:create': byConfirmedSelf('Create an API token'),
  'token:delete': bySelf('Revoke your API token; an API token can revoke only itself, and a sign-in must be confirmed'),
  'ssh-key:list': bySelf('List your SSH keys'),
  'ssh-key:create': byConfirmedSelf('Register an SSH key'),
  'ssh-key:delete': byConfirmedSelf('Remove an SSH key'),
  'team:list': bySelf('List your teams'),
  'team:create': bySelf('Create a team'),
  'workspace:list': bySelf('List the workspaces you can access', ['user', 'service_account']),
  'workspace:create': bySelf('Create a workspace'),

  'quota:list': byOperator('List the limits set for workspaces and owners'),
  'quota:update': byOperator('Set or reset a limit of a workspace or an owner'),

  'node:list': byOperator('List replicas and nodes for sandboxes'),
  'node:drain': byOperator('Drain a node'),
  'node:undrain': byOperator('End the drain of a node'),

  'team:read': byTeam('Get a team', EVERYBODY_IN_TEAM),
  'team:update': byTeam('Rename a team', TEAM_ADMINS),
  'team:delete': byTeam('Delete a team; its workspaces stay with their owners', ['team_owner']),
  'team:transfer': byTeam('Transfer a team to another member', ['team_owner']),
  'team:leave': byTeam('Leave a team', EVERYBODY_IN_TEAM),
  'team:add-workspace': byTeam('Create a workspace in a team or move one into it', TEAM_ADMINS),
  'member:list': byTeam('List the members of a team', EVERYBODY_IN_TEAM),
  'member:update': byTeam("Change a member's role", TEAM_ADMINS),
  'member:delete': byTeam('Remove a member', TEAM_ADMINS),
  'invitation:list': byTeam('List open invitations', TEAM_ADMINS),
  'invitation:create': byTeam('Create an invitation link', TEAM_ADMINS),
  'invitation:delete': byTeam('Revoke an invitation', TEAM_ADMINS),

  'workspace:read': byReaders('Get a workspace'),
  'quota:read': byReaders('Read the quotas and usage of a workspace'),
  'workspace:update': byAdmins('Rename a workspace'),
  'workspace:move': byOwner('Move a workspace into or out of a team'),
  'workspace:transfer': byOwner('Transfer a workspace to another member of its team'),
  'workspace:delete': byOwner('Delete an empty workspace'),
  'service-account:list': byAdmins('List service accounts'),
  'service-account:create': byAdmins('Create a service account'),
  'service-account:update': byAdmins('Rename a service account'),
  'service-account:delete': byAdmins('Revoke a service account'),
  'audit:list': byAdmins('Read the audit log of a workspace; without a workspace, your own records'),

  'store:read': byReaders('Read the status of the object store'),
  'bucket:list': byReaders('List buckets'),
  'bucket:read': byReaders('Read the settings of a bucket'),
  'bucket:create': byWriters('Create a bucket'),
  'bucket:update': byAdmins('Change the settings, versioning and lifecycle of a bucket'),
  'bucket:delete': byAdmins('Delete a bucket'),
  'bucket:restore': byAdmins('Restore a deleted bucket'),
  'domain:list': byReaders('List custom domains'),
  'domain:create': byAdmins('Attach a custom domain'),
  'domain:delete': byAdmins('Remove a custom domain'),
  'key:list': byWriters('List access keys; members see only their own'),
  'key:create': byWriters('Create an access key; members cannot create one with admin permission'),
  'key:delete': byWriters('Revoke an access key; members only their own'),
  'object:list': byReaders('List objects'),
  'object:read': byReaders('Download objects'),
  'object:write': byWriters('Upload objects'),
  'object:delete': byWriters('Delete objects'),

  'sandbox:list': andGuestUsers(byReaders('List sandboxes')),
  'sandbox:read': andGuestUsers(byReaders('Read a sandbox')),
  'sandbox:create': andGuestUsers(byWriters('Create a sandbox')),
  'sandbox:update': andGuestUsers(byWriters('Start, stop and change a sandbox')),
  'sandbox:delete': andGuestUsers(byWriters('Delete a sandbox')),
  'sandbox:exec': andGuestUsers(byWriters('Run commands and open terminals in a sandbox')),
  'sandbox:files-read': andGuestUsers(byReaders('Read files of a sandbox')),
  'sandbox:files-write': andGuestUsers(byWriters('Write files of a sandbox')),
  'secret:list': byReaders('List and get secrets, without their values'),
  'secret:create': byWriters('Create a secret'),
  'secret:update': byWriters('Replace the value of a secret'),
  'secret:delete': byWriters('Delete a secret'),
  'webhook:list': byAdmins('List webhooks of sandbox events and their deliveries'),
  'webhook:create': byAdmins('Create a webhook for sandbox events'),
  'webhook:update': byAdmins('Change, test and redeliver to a webhook for sandbox events'),
  'webhook:delete': byAdmins('Delete a webhook for sandbox events'),
  'volume:list': byReaders('List volumes and their snapshots'),
  'volume:create': byWriters('Create a volume'),
  'volume:update': byWriters('Resize a volume and create snapshots of it'),
  'volume:delete': byWriters('Delete a volume or a snapshot of one'),
  'volume:files-read': byReaders('Read files of a volume'),
  'volume:files-write': byWriters('Write files of a volume'),
  'template:list': byReaders('List templates of sandboxes'),
  'template:read': byReaders('Read a template, its builds and their logs'),
  'template:create': byWriters('Build a template and upload files for it'),
  'template:update': byWriters('Cancel builds and change tags of a template'),
  'template:delete': byWriters('Delete a template'),
  'image:list': andGuestUsers(byReaders('List sandbox images')),

  'cluster:list': byReaders('List clusters'),
  'cluster:read': byReaders('Get a cluster'),
  'cluster:create': byAdmins('Connect a cluster'),
  'cluster:delete': byAdmins('Disconnect a cluster'),
  'cluster:rotate-token': byAdmins('Rotate the token of an agent'),
  'cluster:run-sandboxes': byWriters('Run sandboxes in a cluster'),
  'deployment:read': byReaders('Read deployments'),
  'deployment:create': byWriters('Deploy to a cluster'),
  'command:read': byReaders('Read commands and their results'),
  'command:exec': byWriters('Run a command in a cluster'),
  'command:cancel': byWriters('Cancel a command'),
  'log:read': byReaders('Read logs of a cluster'),
  'event:read': byReaders('Read events of a cluster'),
  'tunnel:use': byWriters('Reach services inside a cluster'),
} as const satisfies Record<`${string}:${string}`, Rule>;

export type KnownAction = keyof typeof authorizeTable;

/** The rule of an action. An unknown action is a bug in its route. */
export function findRule(action: string): Rule {
  const rule: Rule | undefined = Object.hasOwn(authorizeTable, action)
    ? authorizeTable[action as KnownAction] // checked to be one of its keys
    : undefined;
  if (rule === undefined) throw new Error(`action ${action} is not in the authorize table`);
  return rule;
}
