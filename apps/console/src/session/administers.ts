import type { Workspace } from '@svc/sdk';

/** True for whom the platform lets see and change how a workspace is set up. */
export function administers({ role }: Workspace): boolean {
  return role === 'owner' || role === 'admin';
}

/** True for whom the platform lets add and change what a workspace holds. */
export function mayWrite({ role }: Workspace): boolean {
  return role !== 'guest';
}
