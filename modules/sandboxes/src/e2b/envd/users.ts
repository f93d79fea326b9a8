import { isAppError } from '@svc/errors';
import type { Sandbox } from '../../domain/sandbox.ts';
import type { SandboxFiles } from '../../domain/files/file-service.ts';

/** The user that E2B clients expect in every sandbox, and act as unless they name another one. */
export const DEFAULT_USER = 'user';

/** The user of a sandbox whose template names another one. */
export function usualUser({ template }: Pick<Sandbox, 'template'>): string {
  return template?.user ?? DEFAULT_USER;
}

/** Files for the named user, or for the usual one; those of a sandbox without that user are root's. */
export async function filesFor(
  files: SandboxFiles,
  named: string | null,
  sandbox: Pick<Sandbox, 'template'>,
): Promise<SandboxFiles> {
  try {
    return await files.asUser(named ?? usualUser(sandbox));
  } catch (error) {
    if (named === null && isMissingUser(error)) return files;
    throw error;
  }
}

export function isMissingUser(error: unknown): boolean {
  return isAppError(error) && error.code === 'USER_NOT_FOUND';
}
