import type { Workspace } from '@svc/sdk';

/** Whether the user can view and change the workspace's settings. */
export function administers({ role }: Workspace): boolean {
  return role === 'owner' || role === 'admin';
}

/** Whether the user can add and change resources of the workspace. */
export function mayWrite({ role }: Workspace): boolean {
  return role !== 'guest';
}
