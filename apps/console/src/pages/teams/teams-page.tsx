import type { Team, Workspace } from '@svc/sdk';
import { Link } from '@tanstack/react-router';
import { Plus, UsersRound } from 'lucide-react';
import { paths } from '../../routes/paths.ts';
import { useSession } from '../../session/use-session.ts';
import { useShell } from '../../shell/shell-context.ts';
import { Button } from '../../ui/button.tsx';
import { Monogram } from '../../ui/monogram.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { roleLabel } from './roles.ts';
import styles from './teams.module.css';

export function TeamsPage() {
  const { me, teams, workspaces } = useSession();
  const { create } = useShell();
  return (
    <Page
      title="Teams"
      description="A team shares workspaces between its members."
      actions={
        <Button variant="primary" icon={<Plus size={15} />} onClick={() => create('team')}>
          New team
        </Button>
      }
    >
      <Table
        caption="Teams"
        columns={teamColumns(me.user.id, workspaces)}
        rows={teams}
        rowKey={(team) => team.uuid}
        empty={
          <EmptyState icon={<UsersRound size={18} />} title="No teams yet">
            Create a team and invite people by link to share workspaces with them.
          </EmptyState>
        }
      />
    </Page>
  );
}

function teamColumns(userId: string, workspaces: readonly Workspace[]): Column<Team>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      cell: (team) => (
        <Link to={paths.teamMembers} params={{ team: team.uuid }} className={styles['person']}>
          <Monogram name={team.name} seed={team.uuid} />
          <span className="truncate">{team.name}</span>
        </Link>
      ),
    },
    {
      id: 'role',
      header: 'Your role',
      width: '9rem',
      narrowWidth: '7rem',
      cell: (team) => (team.owner_id === userId ? 'Owner' : roleLabel(team.role)),
    },
    {
      id: 'workspaces',
      header: 'Workspaces',
      width: '8rem',
      align: 'end',
      wideOnly: true,
      cell: (team) => workspaces.filter((workspace) => workspace.team_uuid === team.uuid).length,
    },
    {
      id: 'created',
      header: 'Created',
      width: '9rem',
      align: 'end',
      wideOnly: true,
      cell: (team) => (
        <span className="muted">
          <RelativeTime at={team.created_at} />
        </span>
      ),
    },
  ];
}
