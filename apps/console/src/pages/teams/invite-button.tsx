import type { CreatedInvitation, TeamRole } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useRef, useState, type FormEvent } from 'react';
import { invitationsQuery } from '../../api/queries.ts';
import { useSvc } from '../../api/svc-context.ts';
import { useTeam } from '../../layouts/team-layout.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { FieldStack, TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { formText } from '../../ui/form-text.ts';
import { SecretDialog } from '../../ui/secret-dialog.tsx';
import { Select } from '../../ui/select.tsx';
import { ROLES } from './roles.ts';

/** Opens the form, then shows the link once. */
export function InviteButton() {
  const [inviting, setInviting] = useState(false);
  const [created, setCreated] = useState<CreatedInvitation | null>(null);
  return (
    <>
      <Button variant="primary" icon={<Plus size={15} />} onClick={() => setInviting(true)}>
        Invite
      </Button>
      <InviteDialog
        open={inviting}
        onClose={() => setInviting(false)}
        onInvited={(invitation) => {
          setInviting(false);
          setCreated(invitation);
        }}
      />
      <SecretDialog
        title="Share this link"
        description={`It works once, for ${created?.email ?? ''}. You won’t be able to see it again.`}
        noun="link"
        secret={created?.url ?? null}
        onClose={() => setCreated(null)}
      />
    </>
  );
}

interface InviteDialogProps {
  open: boolean;
  onClose: () => void;
  onInvited: (invitation: CreatedInvitation) => void;
}

function InviteDialog({ open, onClose, onInvited }: InviteDialogProps) {
  const email = useRef<HTMLInputElement>(null);
  const { name } = useTeam();
  return (
    <Dialog
      open={open}
      onClose={onClose}
      initialFocus={email}
      title={`Invite to ${name}`}
      description="You get a link to share. svc does not send email."
    >
      <InviteForm emailRef={email} onClose={onClose} onInvited={onInvited} />
    </Dialog>
  );
}

interface InviteFormProps extends Omit<InviteDialogProps, 'open'> {
  emailRef: React.RefObject<HTMLInputElement | null>;
}

function InviteForm({ emailRef, onClose, onInvited }: InviteFormProps) {
  const svc = useSvc();
  const team = useTeam();
  const queryClient = useQueryClient();
  const [role, setRole] = useState<TeamRole>('member');
  const invitation = useMutation({
    mutationFn: (email: string) => svc.teams.invite(team.uuid, { email, role }),
    onSuccess: (created) => {
      onInvited(created);
      return queryClient.invalidateQueries(invitationsQuery(svc, team.uuid));
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    invitation.mutate(formText(event.currentTarget, 'email').trim());
  };
  return (
    <form onSubmit={submit}>
      <FieldStack>
        <TextField ref={emailRef} label="Email" name="email" type="email" required autoComplete="off" />
        <Select label="Role" options={ROLES} value={role} onChange={setRole} />
      </FieldStack>
      <FormError error={invitation.error} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={invitation.isPending}>
          Create link
        </Button>
      </DialogActions>
    </form>
  );
}
