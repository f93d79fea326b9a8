import type { Member, Team, TeamRole } from '@svc/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { membersQuery, teamsQuery, workspacesQuery } from '../../api/queries.ts';
import { useSvc } from '../../api/svc-context.ts';
import { useTeam } from '../../layouts/team-layout.tsx';
import { PageActions } from '../../ui/page.tsx';
import { paths } from '../../routes/paths.ts';
import { useSession } from '../../session/use-session.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { ErrorState } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { InviteButton } from './invite-button.tsx';
import { memberColumns } from './member-columns.tsx';
import { useToasts } from '../../ui/toast.tsx';
import { roleLabel } from './roles.ts';

export function MembersPage() {
  const svc = useSvc();
  const team = useTeam();
  const { me } = useSession();
  const members = useQuery(membersQuery(svc, team.uuid));
  const setRole = useSetRole(team);
  const [leaving, setLeaving] = useState<Member | null>(null);
  const columns = memberColumns({
    selfId: me.user.id,
    mayManage: team.role === 'admin',
    onRole: (member, role) => setRole.mutate({ member, role }),
    onRemove: setLeaving,
  });
  return (
    <>
      <PageActions>{team.role === 'admin' && <InviteButton />}</PageActions>
      {members.isError ? (
        <ErrorState error={members.error} onRetry={() => void members.refetch()} />
      ) : (
        <Table
          caption={`Members of ${team.name}`}
          columns={columns}
          rows={members.data}
          rowKey={(member) => member.user_id}
          empty={null}
          skeletonRows={3}
        />
      )}
      <RemoveMemberDialog member={leaving} onClose={() => setLeaving(null)} />
    </>
  );
}

/** Also used for leaving a team. */
function RemoveMemberDialog({ member, onClose }: { member: Member | null; onClose: () => void }) {
  const svc = useSvc();
  const team = useTeam();
  const { me } = useSession();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const isSelf = member?.user_id === me.user.id;
  const removal = useMutation({
    mutationFn: ({ user_id: userId }: Member) => svc.teams.removeMember(team.uuid, userId),
    onSuccess: async (_answer, { user_id: userId }) => {
      close();
      if (userId !== me.user.id) return queryClient.invalidateQueries(membersQuery(svc, team.uuid));
      await navigate({ to: paths.teams });
      queryClient.removeQueries({ queryKey: ['teams', team.uuid] });
      await Promise.all([
        queryClient.invalidateQueries({ ...teamsQuery(svc), exact: true }),
        queryClient.invalidateQueries(workspacesQuery(svc)),
      ]);
    },
  });
  const close = (): void => {
    removal.reset();
    onClose();
  };
  return (
    <ConfirmDialog
      open={member !== null}
      onClose={close}
      onConfirm={() => {
        if (member !== null) removal.mutate(member);
      }}
      title={isSelf ? `Leave ${team.name}?` : `Remove ${member?.name ?? ''}?`}
      action={isSelf ? 'Leave team' : 'Remove member'}
      pending={removal.isPending}
      error={removal.error}
    >
      {isSelf
        ? 'You lose access to the team’s workspaces. You need a new invitation to rejoin.'
        : 'They lose access to the team’s workspaces immediately.'}
    </ConfirmDialog>
  );
}

function useSetRole(team: Team) {
  const svc = useSvc();
  const queryClient = useQueryClient();
  const { done, failed } = useToasts();
  return useMutation({
    mutationFn: ({ member, role }: { member: Member; role: TeamRole }) =>
      svc.teams.setRole(team.uuid, member.user_id, role),
    onSuccess: (_member, { member, role }) => done(`${member.name} is now ${roleLabel(role).toLowerCase()}`),
    onError: (error) => failed('Could not change the role', error),
    onSettled: () => queryClient.invalidateQueries(membersQuery(svc, team.uuid)),
  });
}
