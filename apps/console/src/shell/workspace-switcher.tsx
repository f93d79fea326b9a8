import type { Team, Workspace } from '@svc/sdk';
import { ChevronsUpDown } from 'lucide-react';
import { useSession, useWorkspace } from '../session/use-session.ts';
import { LazyPopup } from '../ui/lazy-parts.tsx';
import { Monogram } from '../ui/monogram.tsx';
import styles from './switcher.module.css';

const loadMenu = async () => (await import('./workspace-menu.tsx')).WorkspaceMenu;

/** Shows and switches the current workspace. */
export function WorkspaceSwitcher() {
  const { teams } = useSession();
  const current = useWorkspace();
  const team = teams.find((candidate) => candidate.uuid === current.team_uuid);
  return <LazyPopup load={loadMenu} trigger={<SwitcherButton workspace={current} team={team} />} />;
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
