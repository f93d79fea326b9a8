import type { Team, Workspace } from '@svc/sdk';

export interface WorkspaceGroup {
  label: string;
  workspaces: readonly Workspace[];
}

/** The user's own workspaces first, then a group per team, in team order; omits empty groups. */
export function groupWorkspaces(workspaces: readonly Workspace[], teams: readonly Team[]): WorkspaceGroup[] {
  const known = new Set(teams.map((team) => team.uuid));
  const own = workspaces.filter(({ team_uuid: team }) => team === null || !known.has(team));
  const groups = [
    { label: 'Personal', workspaces: own },
    ...teams.map((team) => ({
      label: team.name,
      workspaces: workspaces.filter((workspace) => workspace.team_uuid === team.uuid),
    })),
  ];
  return groups.filter((group) => group.workspaces.length > 0);
}
