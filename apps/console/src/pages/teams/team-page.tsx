import type { Team } from '@svc/sdk';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { paths } from '../../routes/paths.ts';
import { useSession } from '../../session/use-session.ts';
import { Page } from '../../ui/page.tsx';
import { TabLinks, type TabLink } from '../../ui/tab-links.tsx';

/** The team of the URL; the route's guard has seen that it is there. */
export function useTeam(): Team {
  const { team: uuid } = useParams({ strict: false });
  const { teams } = useSession();
  const team = teams.find((candidate) => candidate.uuid === uuid);
  if (team === undefined) throw new Error('a team’s page without a team');
  return team;
}

export interface TeamPageProps {
  current: 'members' | 'invitations' | 'settings';
  actions?: ReactNode;
  children: ReactNode;
}

/** The frame that a team's pages share. What only admins may do is not shown to others. */
export function TeamPage({ current, actions, children }: TeamPageProps) {
  const team = useTeam();
  const params = { team: team.uuid };
  const forAdmins: TabLink[] = [
    { label: 'Invitations', link: { to: paths.teamInvitations, params }, current: current === 'invitations' },
    { label: 'Settings', link: { to: paths.teamSettings, params }, current: current === 'settings' },
  ];
  const tabs: TabLink[] = [
    { label: 'Members', link: { to: paths.teamMembers, params }, current: current === 'members' },
    ...(team.role === 'admin' ? forAdmins : []),
  ];
  return (
    <Page
      title={team.name}
      parent={{ label: 'Teams', link: { to: paths.teams } }}
      width={current === 'settings' ? 'narrow' : 'normal'}
      actions={actions}
      navigation={<TabLinks label="Team" tabs={tabs} />}
    >
      {children}
    </Page>
  );
}
