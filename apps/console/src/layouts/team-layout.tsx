import type { Team } from '@svc/sdk';
import { useParams } from '@tanstack/react-router';
import { paths } from '../routes/paths.ts';
import { useSession } from '../session/use-session.ts';
import { TabbedPage, type Tab } from './tabbed-page.tsx';

const MEMBERS: Tab = { label: 'Members', to: paths.teamMembers };
const FOR_ADMINS: readonly Tab[] = [
  { label: 'Invitations', to: paths.teamInvitations },
  { label: 'Settings', to: paths.teamSettings, narrow: true },
];

/** The team in the URL; its route has verified that it exists. */
export function useTeam(): Team {
  const { team: uuid } = useParams({ strict: false });
  const { teams } = useSession();
  const team = teams.find((candidate) => candidate.uuid === uuid);
  if (team === undefined) throw new Error('a team’s page without a team');
  return team;
}

/** Hides admin-only pages from others. */
export function TeamLayout() {
  const team = useTeam();
  return (
    <TabbedPage
      title={team.name}
      parent={{ label: 'Teams', link: { to: paths.teams } }}
      label="Team"
      tabs={team.role === 'admin' ? [MEMBERS, ...FOR_ADMINS] : [MEMBERS]}
      params={{ team: team.uuid }}
    />
  );
}
