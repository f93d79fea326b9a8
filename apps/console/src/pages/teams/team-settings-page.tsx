import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { teamsQuery, workspacesQuery } from '../../api/queries.ts';
import { useSvc } from '../../api/svc-context.ts';
import { useTeam } from '../../layouts/team-layout.tsx';
import { paths } from '../../routes/paths.ts';
import { useSession } from '../../session/use-session.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { ActionPanel, Panel, Section } from '../../ui/page.tsx';
import { RenameForm } from '../../ui/rename-form.tsx';
import { useToasts } from '../../ui/toast.tsx';
import { TransferTeam } from './transfer-team.tsx';

export function TeamSettingsPage() {
  const svc = useSvc();
  const team = useTeam();
  const { me } = useSession();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const rename = useMutation({
    mutationFn: (name: string) => svc.teams.rename(team.uuid, name),
    onSuccess: () => {
      done('Team renamed');
      return queryClient.invalidateQueries({ ...teamsQuery(svc), exact: true });
    },
  });
  return (
    <>
      <Section title="Name">
        <Panel>
          <RenameForm key={team.name} name={team.name} onRename={rename.mutate} state={rename} />
        </Panel>
      </Section>
      {team.owner_id === me.user.id && (
        <>
          <TransferTeam />
          <DeleteTeam />
        </>
      )}
    </>
  );
}

function DeleteTeam() {
  const svc = useSvc();
  const team = useTeam();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { done } = useToasts();
  const [asking, setAsking] = useState(false);
  const deletion = useMutation({
    mutationFn: () => svc.teams.delete(team.uuid),
    onSuccess: async () => {
      await navigate({ to: paths.teams });
      done(`${team.name} deleted`);
      queryClient.removeQueries({ queryKey: ['teams', team.uuid] });
      await Promise.all([
        queryClient.invalidateQueries({ ...teamsQuery(svc), exact: true }),
        queryClient.invalidateQueries(workspacesQuery(svc)),
      ]);
    },
  });
  return (
    <>
      <ActionPanel
        title="Delete team"
        description="Workspaces stay with their owners. Everyone else loses access."
        action={
          <Button variant="danger" icon={<Trash2 size={15} />} onClick={() => setAsking(true)}>
            Delete team…
          </Button>
        }
      />
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        onConfirm={() => deletion.mutate()}
        title={`Delete ${team.name}?`}
        action="Delete team"
        typeToConfirm={team.name}
        pending={deletion.isPending}
        error={deletion.error}
      >
        Removes all members and open invitations. This cannot be undone.
      </ConfirmDialog>
    </>
  );
}
