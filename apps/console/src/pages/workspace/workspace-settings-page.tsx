import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { scopeOf, workspacesQuery } from '../../api/queries.ts';
import { useSvc } from '../../api/svc-context.ts';
import { paths } from '../../routes/paths.ts';
import { administers } from '../../session/administers.ts';
import { useSession, useWorkspace } from '../../session/use-session.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { CopyField } from '../../ui/copy-field.tsx';
import { ActionPanel, Page, Panel, Section } from '../../ui/page.tsx';
import { RenameForm } from '../../ui/rename-form.tsx';
import { Select } from '../../ui/select.tsx';
import { QuotaSections } from './quota-sections.tsx';
import { useToasts } from '../../ui/toast.tsx';

export function WorkspaceSettingsPage() {
  const svc = useSvc();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const rename = useMutation({
    mutationFn: (name: string) => svc.workspaces.rename(scopeOf(workspace), name),
    onSuccess: () => {
      done('Workspace renamed');
      return queryClient.invalidateQueries(workspacesQuery(svc));
    },
  });
  return (
    <Page title="Settings" description={`Workspace ${workspace.name}`} width="narrow">
      {administers(workspace) && (
        <Section title="Name">
          <Panel>
            <RenameForm
              key={`${workspace.uuid} ${workspace.name}`}
              name={workspace.name}
              onRename={rename.mutate}
              state={rename}
            />
          </Panel>
        </Section>
      )}
      <Section title="Workspace ID" description="Also the tenant ID of the object store.">
        <Panel>
          <CopyField label="Workspace ID" labelHidden value={workspace.uuid} />
        </Panel>
      </Section>
      <QuotaSections />
      {workspace.role === 'owner' && (
        <>
          <WorkspaceTeam key={workspace.uuid} />
          <DeleteWorkspace />
        </>
      )}
    </Page>
  );
}

const NO_TEAM = 'none';

function WorkspaceTeam() {
  const svc = useSvc();
  const workspace = useWorkspace();
  const { teams } = useSession();
  const queryClient = useQueryClient();
  const { done, failed } = useToasts();
  const current = workspace.team_uuid ?? NO_TEAM;
  const choices = teams.filter((team) => team.role === 'admin' || team.uuid === workspace.team_uuid);
  const move = useMutation({
    mutationFn: (team: string) => svc.workspaces.move(scopeOf(workspace), team === NO_TEAM ? null : team),
    onSuccess: () => done('Workspace moved'),
    onError: (error) => failed('Could not move the workspace', error),
    onSettled: () => queryClient.invalidateQueries(workspacesQuery(svc)),
  });
  return (
    <Section title="Team" description="Team members can access this workspace with their team role.">
      <Panel>
        <Select
          label="Team"
          labelHidden
          value={move.isPending ? move.variables : current}
          onChange={(team) => {
            if (team !== current) move.mutate(team);
          }}
          options={[
            { value: NO_TEAM, label: 'No team (only you)' },
            ...choices.map(({ uuid, name }) => ({ value: uuid, label: name })),
          ]}
        />
      </Panel>
    </Section>
  );
}

function DeleteWorkspace() {
  const svc = useSvc();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { done } = useToasts();
  const [asking, setAsking] = useState(false);
  const deletion = useMutation({
    mutationFn: () => svc.workspaces.delete(scopeOf(workspace)),
    onSuccess: async () => {
      done(`${workspace.name} deleted`);
      queryClient.setQueryData(workspacesQuery(svc).queryKey, (all) =>
        all?.filter(({ uuid }) => uuid !== workspace.uuid),
      );
      await navigate({ to: paths.home });
      await queryClient.invalidateQueries(workspacesQuery(svc));
    },
  });
  return (
    <>
      <ActionPanel
        title="Delete workspace"
        description="The workspace must be empty: no clusters, buckets or sandboxes."
        action={
          <Button variant="danger" icon={<Trash2 size={15} />} onClick={() => setAsking(true)}>
            Delete workspace…
          </Button>
        }
      />
      <ConfirmDialog
        open={asking}
        onClose={() => {
          deletion.reset();
          setAsking(false);
        }}
        onConfirm={() => deletion.mutate()}
        title={`Delete ${workspace.name}?`}
        action="Delete workspace"
        typeToConfirm={workspace.name}
        pending={deletion.isPending}
        error={deletion.error}
      >
        Its service accounts stop working. This cannot be undone.
      </ConfirmDialog>
    </>
  );
}
