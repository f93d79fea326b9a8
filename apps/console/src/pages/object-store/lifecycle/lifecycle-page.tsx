import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Hourglass, Plus } from 'lucide-react';
import { useState } from 'react';
import { lifecycleQuery, createStoreClient } from '../../../api/object-store.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { useBucketName } from '../../../layouts/bucket-layout.tsx';
import { PageActions } from '../../../ui/page.tsx';
import { administers } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import { useToasts } from '../../../ui/toast.tsx';
import { ruleColumns } from './rule-columns.tsx';
import { RuleDialog, type Editing } from './rule-dialog.tsx';
import type { Rule } from './rule.ts';

export function LifecyclePage() {
  const svc = useSvc();
  const workspace = useWorkspace();
  const bucket = useBucketName();
  const lifecycle = useQuery(lifecycleQuery(svc, workspace, bucket));
  const [editing, setEditing] = useState<Editing>(null);
  const [removing, setRemoving] = useState<Rule | null>(null);
  const save = useSaveRules();
  const rules = lifecycle.data?.rules;
  const administered = administers(workspace);
  const addRule = administered && (
    <Button variant="primary" icon={<Plus size={15} />} onClick={() => setEditing({ rule: null })}>
      Add rule
    </Button>
  );
  const close = (): void => {
    save.reset();
    setEditing(null);
    setRemoving(null);
  };
  return (
    <>
      <PageActions>{addRule}</PageActions>
      {lifecycle.isError ? (
        <ErrorState error={lifecycle.error} onRetry={() => void lifecycle.refetch()} />
      ) : (
        <Table
          caption={`Lifecycle rules of ${bucket}`}
          columns={ruleColumns(administered ? { onEdit: (rule) => setEditing({ rule }), onRemove: setRemoving } : null)}
          rows={rules}
          rowKey={(rule) => rule.id}
          empty={
            <EmptyState icon={<Hourglass size={18} />} title="No lifecycle rules yet">
              Add a rule to delete objects, old versions or unfinished uploads after some days. Unfinished uploads are
              always deleted after a week.
            </EmptyState>
          }
        />
      )}
      <RuleDialog
        editing={editing}
        taken={(rules ?? []).map(({ id }) => id)}
        state={save}
        onClose={close}
        onSave={(rule, before) => {
          const others =
            before === null
              ? [...(rules ?? []), rule]
              : (rules ?? []).map((each) => (each.id === before.id ? rule : each));
          save.mutate(others, { onSuccess: close });
        }}
      />
      <ConfirmDialog
        open={removing !== null}
        onClose={close}
        onConfirm={() =>
          save.mutate(
            (rules ?? []).filter(({ id }) => id !== removing?.id),
            { onSuccess: close },
          )
        }
        title={`Delete rule ${removing?.id ?? ''}?`}
        action="Delete rule"
        pending={save.isPending}
        error={removing === null ? null : save.error}
      >
        Objects that the rule would have deleted are kept.
      </ConfirmDialog>
    </>
  );
}

function useSaveRules() {
  const svc = useSvc();
  const workspace = useWorkspace();
  const bucket = useBucketName();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  return useMutation({
    mutationFn: async (rules: readonly Rule[]) => {
      const { buckets } = createStoreClient(svc, workspace);
      if (rules.length === 0) await buckets.removeLifecycle(bucket);
      else await buckets.setLifecycle(bucket, { rules: [...rules] });
    },
    onSuccess: () => {
      done('Lifecycle saved');
      return queryClient.invalidateQueries({ queryKey: lifecycleQuery(svc, workspace, bucket).queryKey });
    },
  });
}
