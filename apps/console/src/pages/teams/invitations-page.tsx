import type { Invitation } from '@svc/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { MailPlus } from 'lucide-react';
import { useState } from 'react';
import { invitationsQuery } from '../../api/queries.ts';
import { useSvc } from '../../api/svc-context.ts';
import { useTeam } from '../../layouts/team-layout.tsx';
import { PageActions } from '../../ui/page.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { useToasts } from '../../ui/toast.tsx';
import { InviteButton } from './invite-button.tsx';
import { roleLabel } from './roles.ts';

export function InvitationsPage() {
  const svc = useSvc();
  const team = useTeam();
  const invitations = useQuery(invitationsQuery(svc, team.uuid));
  const [revoking, setRevoking] = useState<Invitation | null>(null);
  return (
    <>
      <PageActions>
        <InviteButton />
      </PageActions>
      {invitations.isError ? (
        <ErrorState error={invitations.error} onRetry={() => void invitations.refetch()} />
      ) : (
        <Table
          caption={`Open invitations of ${team.name}`}
          columns={invitationColumns(setRevoking)}
          rows={invitations.data}
          rowKey={(invitation) => invitation.id}
          empty={
            <EmptyState icon={<MailPlus size={18} />} title="No open invitations">
              Invite someone to get a link that works once, for one email address.
            </EmptyState>
          }
        />
      )}
      <RevokeInvitationDialog invitation={revoking} onClose={() => setRevoking(null)} />
    </>
  );
}

function invitationColumns(onRevoke: (invitation: Invitation) => void): Column<Invitation>[] {
  return [
    { id: 'email', header: 'Email', cell: (invitation) => invitation.email },
    {
      id: 'role',
      header: 'Role',
      width: '8rem',
      narrowWidth: '5.5rem',
      cell: (invitation) => roleLabel(invitation.role),
    },
    {
      id: 'expires',
      header: 'Expires',
      width: '9rem',
      wideOnly: true,
      cell: (invitation) => (
        <span className="muted">
          <RelativeTime at={invitation.expires_at} />
        </span>
      ),
    },
    {
      id: 'actions',
      header: 'Actions',
      headerHidden: true,
      align: 'end',
      width: '6.5rem',
      cell: (invitation) => (
        <Button
          size="small"
          aria-label={`Revoke invitation for ${invitation.email}`}
          onClick={() => onRevoke(invitation)}
        >
          Revoke
        </Button>
      ),
    },
  ];
}

function RevokeInvitationDialog({ invitation, onClose }: { invitation: Invitation | null; onClose: () => void }) {
  const svc = useSvc();
  const team = useTeam();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const revocation = useMutation({
    mutationFn: ({ id }: Invitation) => svc.teams.revokeInvitation(team.uuid, id),
    onSuccess: () => {
      close();
      done('Invitation revoked');
      return queryClient.invalidateQueries(invitationsQuery(svc, team.uuid));
    },
  });
  const close = (): void => {
    revocation.reset();
    onClose();
  };
  return (
    <ConfirmDialog
      open={invitation !== null}
      onClose={close}
      onConfirm={() => {
        if (invitation !== null) revocation.mutate(invitation);
      }}
      title="Revoke this invitation?"
      action="Revoke invitation"
      pending={revocation.isPending}
      error={revocation.error}
    >
      The link for {invitation?.email} stops working.
    </ConfirmDialog>
  );
}
