import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState, type FormEvent } from 'react';
import { teamsQuery, workspacesQuery } from '../api/queries.ts';
import { useSvc } from '../api/svc-context.ts';
import { paths } from '../routes/paths.ts';
import { useSession } from '../session/use-session.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { FieldStack, TextField } from '../ui/field.tsx';
import { FormError } from '../ui/form-error.tsx';
import { Select } from '../ui/select.tsx';
import { formText } from '../ui/form-text.ts';

export type Creating = 'workspace' | 'team' | null;

const PERSONAL = 'personal';

export interface CreateDialogsProps {
  open: boolean;
  creating: Creating;
  onClose: () => void;
}

/** Dialogs that can be opened from anywhere in the shell. */
export function CreateDialogs({ creating, onClose }: CreateDialogsProps) {
  const name = useRef<HTMLInputElement>(null);
  return (
    <>
      <Dialog
        open={creating === 'workspace'}
        onClose={onClose}
        initialFocus={name}
        title="New workspace"
        description="Workspaces keep clusters, buckets and sandboxes separate from each other."
      >
        <NewWorkspace nameRef={name} onDone={onClose} />
      </Dialog>
      <Dialog
        open={creating === 'team'}
        onClose={onClose}
        initialFocus={name}
        title="New team"
        description="A team shares workspaces between its members. You will be its owner."
      >
        <NewTeam nameRef={name} onDone={onClose} />
      </Dialog>
    </>
  );
}

interface CreateFormProps {
  nameRef: React.RefObject<HTMLInputElement | null>;
  onDone: () => void;
}

function NewWorkspace({ nameRef, onDone }: CreateFormProps) {
  const svc = useSvc();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const { teams } = useSession();
  const [team, setTeam] = useState<string>(PERSONAL);
  const administered = teams.filter(({ role }) => role === 'admin');
  const creation = useMutation({
    mutationFn: (name: string) => svc.workspaces.create(team === PERSONAL ? { name } : { name, teamUuid: team }),
    onSuccess: async (workspace) => {
      await queryClient.invalidateQueries(workspacesQuery(svc));
      onDone();
      await navigate({ to: paths.workspace, params: { workspace: workspace.uuid } });
    },
  });
  return (
    <form onSubmit={(event) => submitName(event, creation.mutate)}>
      <FieldStack>
        <TextField ref={nameRef} label="Name" name="name" required maxLength={100} autoComplete="off" />
        {administered.length > 0 && (
          <Select
            label="Team"
            value={team}
            onChange={setTeam}
            options={[
              { value: PERSONAL, label: 'No team (only you)' },
              ...administered.map(({ uuid, name }) => ({ value: uuid, label: name })),
            ]}
          />
        )}
      </FieldStack>
      <FormError error={creation.error} />
      <CreateActions pending={creation.isPending} onCancel={onDone} label="Create workspace" />
    </form>
  );
}

function NewTeam({ nameRef, onDone }: CreateFormProps) {
  const svc = useSvc();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const creation = useMutation({
    mutationFn: (name: string) => svc.teams.create(name),
    onSuccess: async (team) => {
      await queryClient.invalidateQueries(teamsQuery(svc));
      onDone();
      await navigate({ to: paths.teamMembers, params: { team: team.uuid } });
    },
  });
  return (
    <form onSubmit={(event) => submitName(event, creation.mutate)}>
      <TextField ref={nameRef} label="Name" name="name" required maxLength={100} autoComplete="off" />
      <FormError error={creation.error} />
      <CreateActions pending={creation.isPending} onCancel={onDone} label="Create team" />
    </form>
  );
}

function CreateActions({ pending, onCancel, label }: { pending: boolean; onCancel: () => void; label: string }) {
  return (
    <DialogActions>
      <Button onClick={onCancel}>Cancel</Button>
      <Button type="submit" variant="primary" pending={pending}>
        {label}
      </Button>
    </DialogActions>
  );
}

function submitName(event: FormEvent<HTMLFormElement>, create: (name: string) => void): void {
  event.preventDefault();
  create(formText(event.currentTarget, 'name').trim());
}
