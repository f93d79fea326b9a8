import type { Team, Workspace } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import { Check, ChevronsUpDown, Plus } from 'lucide-react';
import { paths } from '../routes/paths.ts';
import { useSession, useWorkspace } from '../session/use-session.ts';
import { Menu, MenuGroup, MenuItem, MenuSeparator } from '../ui/menu.tsx';
import { Monogram } from '../ui/monogram.tsx';
import { useShell } from './shell-context.ts';
import styles from './switcher.module.css';
import { groupWorkspaces } from './group-workspaces.ts';

/** Which workspace the console works in. Each choice is a link: the workspace is in the URL and nowhere else. */
export function WorkspaceSwitcher() {
  const { workspaces, teams } = useSession();
  const { create } = useShell();
  const current = useWorkspace();
  const team = teams.find((candidate) => candidate.uuid === current.team_uuid);
  return (
    <Menu width="trigger" trigger={<SwitcherButton workspace={current} team={team} />}>
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

interface SwitcherButtonProps extends React.ComponentProps<'button'> {
  workspace: Workspace;
  team: Team | undefined;
}

function SwitcherButton({ workspace, team, ...rest }: SwitcherButtonProps) {
  const owner = team?.name ?? 'Personal';
  return (
    <button type="button" {...rest} className={styles['switcher']}>
      <Monogram name={workspace.name} seed={workspace.uuid} size="large" />
      <span className={styles['names']}>
        <span className={styles['name']}>
          <span className="visually-hidden">Workspace </span>
          {workspace.name}
        </span>
        <span className={styles['team']}>{owner}</span>
      </span>
      <ChevronsUpDown size={14} className={styles['icon']} />
    </button>
  );
}
