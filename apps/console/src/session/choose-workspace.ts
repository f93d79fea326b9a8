import type { Workspace } from '@svc/sdk';

/** Returns the first preferred workspace that exists, or else the first one. */
export function chooseWorkspace(
  workspaces: readonly Workspace[],
  wishes: readonly (string | null | undefined)[],
): Workspace | undefined {
  for (const wish of wishes) {
    const found = workspaces.find((workspace) => workspace.uuid === wish);
    if (found !== undefined) return found;
  }
  return workspaces[0];
}
