import type { Member, Team, TeamRole } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { membersQuery } from '../../api/queries.ts';
import { useSvc } from '../../api/svc-context.ts';
import { useToasts } from '../../ui/toast.tsx';
import { roleLabel } from './roles.ts';

export function useSetRole(team: Team) {
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
