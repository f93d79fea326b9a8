import type { AccountDatabase } from '../stores.ts';
import { normalizeEmail } from '../users/email.ts';

/** Workspace lookups for other parts of the platform, without a caller's permissions. */
export interface WorkspaceDirectory {
  /** False for a workspace that is being deleted. */
  exists(workspaceUuid: string): Promise<boolean>;
  /** The default workspace of the person with this e-mail, in any spelling; null if unknown. */
  byEmail(email: string): Promise<string | null>;
}

export function createWorkspaceDirectory({ users, workspaces }: AccountDatabase): WorkspaceDirectory {
  return {
    exists: async (workspaceUuid) => {
      const workspace = await workspaces.byUuid(workspaceUuid);
      return workspace !== undefined && workspace.deletingSince === null;
    },
    byEmail: async (text) => {
      const email = normalizeEmail(text);
      const user = email === undefined ? undefined : await users.byEmail(email);
      if (user === undefined) return null;
      return (await workspaces.firstOwnedBy(user.id))?.uuid ?? null;
    },
  };
}
