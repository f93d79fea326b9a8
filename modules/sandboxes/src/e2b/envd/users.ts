import { isAppError } from '@svc/errors';
import type { SandboxFiles } from '../../domain/files/file-service.ts';

/** The user that E2B clients expect in every sandbox, and act as unless they name another one. */
export const DEFAULT_USER = 'user';

/** Files for the named user, or for the default user; those of a sandbox without a default user are root's. */
export async function filesFor(files: SandboxFiles, named: string | null): Promise<SandboxFiles> {
  try {
    return await files.asUser(named ?? DEFAULT_USER);
  } catch (error) {
    if (named === null && isMissingUser(error)) return files;
    throw error;
  }
}

export function isMissingUser(error: unknown): boolean {
  return isAppError(error) && error.code === 'USER_NOT_FOUND';
}
