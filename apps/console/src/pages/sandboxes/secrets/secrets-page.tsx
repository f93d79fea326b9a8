import type { Secret } from '@svc/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { LockKeyhole, Plus } from 'lucide-react';
import { useState } from 'react';
import { secretsQuery, useSandboxes } from '../../../api/sandboxes.ts';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { Page } from '../../../ui/page.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { Table, type Column } from '../../../ui/table.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { useToasts } from '../../../ui/toast.tsx';
import { SecretDialog, type EditedSecret } from './secret-dialog.tsx';
import styles from './secrets.module.css';

const route = getRouteApi('/shell/w/$workspace/secrets');

export function SecretsPage() {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const writable = mayWrite(workspace);
  const secrets = useQuery(secretsQuery(api, workspace));
  const { create } = route.useSearch();
  const navigate = route.useNavigate();
  const [replacing, setReplacing] = useState<Secret | null>(null);
  const [deleting, setDeleting] = useState<Secret | null>(null);
  const openCreate = (open: boolean): void =>
    void navigate({ search: open ? { create: true } : {}, replace: true, resetScroll: false });
  const edited: EditedSecret | null = replacing ?? (create === true && writable ? 'new' : null);
  return (
    <Page
      title="Secrets"
      description="Add credentials to sandbox requests without exposing them to the sandbox. Values are never shown again."
      actions={
        writable && (
          <Button variant="primary" icon={<Plus size={15} />} onClick={() => openCreate(true)}>
            New secret
          </Button>
        )
      }
    >
      {secrets.isError ? (
        <ErrorState error={secrets.error} onRetry={() => void secrets.refetch()} />
      ) : (
        <Table
          caption="Secrets"
          columns={columns(writable ? { replace: setReplacing, remove: setDeleting } : null)}
          rows={secrets.data}
          rowKey={(secret) => secret.name}
          empty={
            <EmptyState icon={<LockKeyhole size={18} />} title="No secrets yet">
              Create one for an API that sandboxes call, then add a rule in the settings of a sandbox.
            </EmptyState>
          }
        />
      )}
      <SecretDialog
        secret={edited}
        onClose={() => {
          setReplacing(null);
          if (create === true) openCreate(false);
        }}
      />
      <DeleteSecretDialog secret={deleting} onClose={() => setDeleting(null)} />
    </Page>
  );
}

interface Changes {
  replace: (secret: Secret) => void;
  remove: (secret: Secret) => void;
}

function columns(changes: Changes | null): Column<Secret>[] {
  const shown: Column<Secret>[] = [
    { id: 'name', header: 'Name', cell: ({ name }) => <code className={styles['name']}>{name}</code> },
    { id: 'version', header: 'Version', width: '7rem', wideOnly: true, cell: ({ version }) => version },
    {
      id: 'updated',
      header: 'Updated',
      width: '9rem',
      wideOnly: true,
      cell: ({ updated_at: at }) => <RelativeTime at={at} />,
    },
  ];
  if (changes === null) return shown;
  const actions: Column<Secret> = {
    id: 'actions',
    header: 'Actions',
    headerHidden: true,
    align: 'end',
    width: '11.5rem',
    cell: (secret) => (
      <span className={styles['actions']}>
        <Button size="small" aria-label={`Replace ${secret.name}`} onClick={() => changes.replace(secret)}>
          Replace
        </Button>
        <Button size="small" aria-label={`Delete ${secret.name}`} onClick={() => changes.remove(secret)}>
          Delete
        </Button>
      </span>
    ),
  };
  return [...shown, actions];
}

function DeleteSecretDialog({ secret, onClose }: { secret: Secret | null; onClose: () => void }) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const deletion = useMutation({
    mutationFn: ({ name }: Secret) => api.secrets.delete(name),
    onSuccess: (_answer, { name }) => {
      close();
      done(`${name} deleted`);
      return queryClient.invalidateQueries(secretsQuery(api, workspace));
    },
  });
  const close = (): void => {
    deletion.reset();
    onClose();
  };
  return (
    <ConfirmDialog
      open={secret !== null}
      onClose={close}
      onConfirm={() => {
        if (secret !== null) deletion.mutate(secret);
      }}
      title={`Delete ${secret?.name ?? 'secret'}?`}
      action="Delete secret"
      pending={deletion.isPending}
      error={deletion.error}
    >
      Sandboxes with rules that use this secret will fail those requests until you change the rules. This cannot be
      undone.
    </ConfirmDialog>
  );
}
