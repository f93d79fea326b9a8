import type { SshKey } from '@svc/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Fingerprint, Plus } from 'lucide-react';
import { useState } from 'react';
import { sshKeysQuery } from '../../api/queries.ts';
import { useSvc } from '../../api/svc-context.ts';
import { useConfirmation } from '../../session/use-confirmation.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { Table, type Column } from '../../ui/table.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { useToasts } from '../../ui/toast.tsx';
import { AddSshKeyDialog } from './add-ssh-key-dialog.tsx';
import styles from './tokens.module.css';

const route = getRouteApi('/shell/account/ssh-keys');

export function SshKeysPage() {
  const svc = useSvc();
  const keys = useQuery(sshKeysQuery(svc));
  const { create } = route.useSearch();
  const navigate = route.useNavigate();
  const [removing, setRemoving] = useState<SshKey | null>(null);
  const openCreate = (open: boolean): void =>
    void navigate({ search: open ? { create: true } : {}, replace: true, resetScroll: false });
  return (
    <Page
      title="SSH keys"
      description="Log in to your sandboxes over SSH with these keys. The private half never leaves your machine."
      actions={
        <Button variant="primary" icon={<Plus size={15} />} onClick={() => openCreate(true)}>
          Add SSH key
        </Button>
      }
    >
      {keys.isError ? (
        <ErrorState error={keys.error} onRetry={() => void keys.refetch()} />
      ) : (
        <Table
          caption="SSH keys"
          columns={columns(setRemoving)}
          rows={keys.data}
          rowKey={(key) => key.id}
          empty={
            <EmptyState icon={<Fingerprint size={18} />} title="No SSH keys yet">
              Add a public key to use ssh, scp and editors with your sandboxes without a token.
            </EmptyState>
          }
        />
      )}
      <AddSshKeyDialog open={create === true} onClose={() => openCreate(false)} />
      <RemoveSshKeyDialog sshKey={removing} onClose={() => setRemoving(null)} />
    </Page>
  );
}

function columns(onRemove: (key: SshKey) => void): Column<SshKey>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      cell: (key) => (
        <>
          <span className={styles['name']}>{key.name}</span>
          <code className={styles['fingerprint']}>{key.fingerprint}</code>
        </>
      ),
    },
    { id: 'type', header: 'Type', width: '12rem', wideOnly: true, cell: (key) => <code>{key.type}</code> },
    { id: 'used', header: 'Last used', width: '14%', wideOnly: true, cell: (key) => <LastUse sshKey={key} /> },
    {
      id: 'created',
      header: 'Added',
      width: '14%',
      wideOnly: true,
      cell: (key) => (
        <span className="muted">
          <RelativeTime at={key.created_at} />
        </span>
      ),
    },
    {
      id: 'actions',
      header: 'Actions',
      headerHidden: true,
      align: 'end',
      width: '6.5rem',
      cell: (key) => (
        <Button size="small" aria-label={`Remove ${key.name}`} onClick={() => onRemove(key)}>
          Remove
        </Button>
      ),
    },
  ];
}

function LastUse({ sshKey }: { sshKey: SshKey }) {
  if (sshKey.last_used_at === null) return <span className="muted">Never used</span>;
  return <RelativeTime at={sshKey.last_used_at} />;
}

function RemoveSshKeyDialog({ sshKey, onClose }: { sshKey: SshKey | null; onClose: () => void }) {
  const svc = useSvc();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const { confirmed, confirmation } = useConfirmation();
  const removal = useMutation({
    mutationFn: ({ id }: SshKey) => confirmed(() => svc.accounts.removeSshKey(id)),
    onSuccess: (_answer, { name }) => {
      close();
      done(`${name} removed`);
      return queryClient.invalidateQueries(sshKeysQuery(svc));
    },
  });
  const close = (): void => {
    removal.reset();
    onClose();
  };
  return (
    <ConfirmDialog
      open={sshKey !== null}
      onClose={close}
      onConfirm={() => {
        if (sshKey !== null) removal.mutate(sshKey);
      }}
      title={`Remove ${sshKey?.name ?? 'key'}?`}
      action="Remove key"
      pending={removal.isPending}
      error={removal.error}
    >
      Open connections that use this key end immediately. You can add the key again later.
      {confirmation}
    </ConfirmDialog>
  );
}
