import type { Action, Role } from '@svc/access';

/** Actions of team members beyond reading; the accounts module has the authoritative table. */
const MEMBER_ACTIONS: ReadonlySet<string> = new Set([
  'bucket:create',
  'object:write',
  'object:delete',
  'key:list',
  'key:create',
  'key:delete',
  'sandbox:create',
  'sandbox:update',
  'sandbox:delete',
  'sandbox:exec',
  'sandbox:files-write',
  'volume:create',
  'volume:update',
  'volume:delete',
  'volume:files-write',
  'secret:create',
  'secret:update',
  'secret:delete',
  'template:create',
  'template:update',
  'template:delete',
  'deployment:create',
  'command:exec',
  'command:cancel',
  'cluster:run-sandboxes',
  'tunnel:use',
]);

/** Reads that reveal more than a reader may know. */
const NOT_FOR_READERS: ReadonlySet<string> = new Set([
  'key:list',
  'audit:list',
  'service-account:list',
  'webhook:list',
]);

const OWNER_ACTIONS: ReadonlySet<string> = new Set(['workspace:move', 'workspace:transfer', 'workspace:delete']);
const READ_VERBS: ReadonlySet<string> = new Set(['read', 'list', 'files-read']);

export function fakeRoleAllows(role: Role, action: Action): boolean {
  if (role === 'owner') return true;
  if (role === 'admin') return !OWNER_ACTIONS.has(action);
  return isRead(action) || (role === 'member' && MEMBER_ACTIONS.has(action));
}

export function fakeScopesAllow(scopes: readonly string[], action: Action): boolean {
  if (scopes.includes('admin')) return !OWNER_ACTIONS.has(action);
  if (scopes.includes('write') && MEMBER_ACTIONS.has(action)) return true;
  return (scopes.includes('read') || scopes.includes('write')) && isRead(action);
}

function isRead(action: Action): boolean {
  return !NOT_FOR_READERS.has(action) && READ_VERBS.has(action.split(':')[1] ?? '');
}
