import type { QuotaState, QuotaSubject } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { quotasQuery } from '../../api/queries.ts';
import { useSvc } from '../../api/svc-context.ts';
import { useWorkspace } from '../../session/use-session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { FieldStack, TextField } from '../../ui/field.tsx';
import { FormError } from '../../ui/form-error.tsx';
import { useToasts } from '../../ui/toast.tsx';
import { limitDraft, parseDraft } from './quota-amounts.ts';

export interface ChangeQuotaDialogProps {
  /** Null if the dialog is closed. */
  quota: QuotaState | null;
  subject: QuotaSubject;
  onClose: () => void;
}

/** Changes a quota. Only for operators. */
export function ChangeQuotaDialog({ quota, subject, onClose }: ChangeQuotaDialogProps) {
  return (
    <Dialog
      open={quota !== null}
      onClose={onClose}
      title={`Change limit of ${quota?.title ?? ''}`}
      description={quota === null ? '' : `${quota.description}. The change takes effect within a second.`}
    >
      {quota !== null && <ChangeQuotaForm key={quota.name} quota={quota} subject={subject} onClose={onClose} />}
    </Dialog>
  );
}

function ChangeQuotaForm({ quota, subject, onClose }: ChangeQuotaDialogProps & { quota: QuotaState }) {
  const svc = useSvc();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const [draft, setDraft] = useState(limitDraft(quota));
  const parsed = parseDraft(quota.unit, draft);
  const change = useMutation({
    mutationFn: (limit: number | null) => svc.quotas.set(subject, quota.name, limit),
    onSuccess: async () => {
      done('Limit changed');
      await queryClient.invalidateQueries(quotasQuery(svc, workspace));
      onClose();
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if ('limit' in parsed) change.mutate(parsed.limit);
      }}
    >
      <FieldStack>
        <TextField
          label="Limit"
          value={draft}
          placeholder="Unlimited"
          autoComplete="off"
          hint="Leave empty for no limit."
          error={'fault' in parsed ? parsed.fault : undefined}
          onChange={(event) => setDraft(event.target.value)}
        />
      </FieldStack>
      <FormError error={change.error} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" disabled={'fault' in parsed} pending={change.isPending}>
          Change limit
        </Button>
      </DialogActions>
    </form>
  );
}
