import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { membersQuery } from '../../api/queries.ts';
import { useSvc } from '../../api/svc-context.ts';
import { useTeam } from '../../layouts/team-layout.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Panel, Section } from '../../ui/page.tsx';
import { Select } from '../../ui/select.tsx';
import { useToasts } from '../../ui/toast.tsx';
import styles from '../../ui/inline-form.module.css';

const NOT_CHOSEN = '';

export function TransferTeam() {
  const svc = useSvc();
  const team = useTeam();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const { data: members = [] } = useQuery(membersQuery(svc, team.uuid));
  const [newOwner, setNewOwner] = useState(NOT_CHOSEN);
  const [isConfirming, setConfirming] = useState(false);
  const others = members.filter((member) => !member.owner);
  const name = others.find((member) => member.user_id === newOwner)?.name ?? '';
  const transfer = useMutation({
    mutationFn: () => svc.teams.transfer(team.uuid, newOwner),
    onSuccess: () => {
      setConfirming(false);
      done(`${name} now owns ${team.name}`);
      return queryClient.invalidateQueries({ queryKey: ['teams'] });
    },
  });
  return (
    <Section title="Transfer ownership" description="The new owner must be a member. You stay an admin.">
      <Panel>
        <div className={styles['inline']}>
          <Select
            label="New owner"
            labelHidden
            className={styles['field'] ?? ''}
            disabled={others.length === 0}
            value={newOwner}
            onChange={setNewOwner}
            options={[
              { value: NOT_CHOSEN, label: others.length === 0 ? 'No other members' : 'Choose a member' },
              ...others.map((member) => ({ value: member.user_id, label: member.name, description: member.email })),
            ]}
          />
          <Button disabled={newOwner === NOT_CHOSEN} onClick={() => setConfirming(true)}>
            Transfer…
          </Button>
        </div>
      </Panel>
      <ConfirmDialog
        open={isConfirming}
        onClose={() => setConfirming(false)}
        onConfirm={() => transfer.mutate()}
        title={`Transfer ${team.name} to ${name}?`}
        action="Transfer ownership"
        pending={transfer.isPending}
        error={transfer.error}
      >
        Only the new owner can transfer the team back.
      </ConfirmDialog>
    </Section>
  );
}
