import { Link } from '@tanstack/react-router';
import { Check, Plus } from 'lucide-react';
import { paths } from '../routes/paths.ts';
import { useSession, useWorkspace } from '../session/use-session.ts';
import type { PopupProps } from '../ui/lazy-parts.tsx';
import { Menu, MenuGroup, MenuItem, MenuSeparator } from '../ui/menu.tsx';
import { Monogram } from '../ui/monogram.tsx';
import { useShell } from './shell-context.ts';
import type { Team, Workspace } from '@svc/sdk';

/** Each choice is a link, since only the URL selects the workspace. */
export function WorkspaceMenu({ trigger, defaultOpen }: PopupProps) {
  const { workspaces, teams } = useSession();
  const { create } = useShell();
  const current = useWorkspace();
  return (
    <Menu width="trigger" trigger={trigger} defaultOpen={defaultOpen}>
      {groupWorkspaces(workspaces, teams).map((group) => (
        <MenuGroup key={group.label} label={group.label}>
          {group.workspaces.map((workspace) => (
            <MenuItem
              key={workspace.uuid}
              icon={<Monogram name={workspace.name} seed={workspace.uuid} />}
              trailing={workspace.uuid === current.uuid ? <Check size={14} aria-label="current" /> : undefined}
              render={<Link to={paths.workspace} params={{ workspace: workspace.uuid }} />}
            >
              {workspace.name}
            </MenuItem>
          ))}
        </MenuGroup>
      ))}
      <MenuSeparator />
      <MenuItem icon={<Plus size={15} />} onClick={() => create('workspace')}>
        New workspace…
      </MenuItem>
      <MenuItem icon={<Plus size={15} />} onClick={() => create('team')}>
        New team…
      </MenuItem>
    </Menu>
  );
}

interface WorkspaceGroup {
  label: string;
  workspaces: readonly Workspace[];
}

/** The user's own workspaces first, then a group per team, in team order; omits empty groups. */
function groupWorkspaces(workspaces: readonly Workspace[], teams: readonly Team[]): WorkspaceGroup[] {
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
