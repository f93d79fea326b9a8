import type { Workspace } from '@svc/sdk';

/** True for whom the platform lets see and change how a workspace is set up. */
export function administers({ role }: Workspace): boolean {
  return role === 'owner' || role === 'admin';
}
