import { ConflictError, type AccessKey, type CreatedAccessKey } from '@svc/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { KeySquare, Plus } from 'lucide-react';
import { useState } from 'react';
import { keysQuery, storeQuery, useStore } from '../../../api/object-store.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { CopyField } from '../../../ui/copy-field.tsx';
import { Page, Panel, Section } from '../../../ui/page.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import { useToasts } from '../../../ui/toast.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { keyColumns } from './key-columns.tsx';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';
import { FieldStack } from '../../../ui/field.tsx';

const route = getRouteApi('/shell/w/$workspace/keys');

export function KeysPage() {
  const svc = useSvc();
  const workspace = useWorkspace();
  const writable = mayWrite(workspace);
  const keys = useQuery({ ...keysQuery(svc, workspace), enabled: writable });
  const { data: status } = useQuery(storeQuery(svc, workspace));
  const { create } = route.useSearch();
  const navigate = route.useNavigate();
  const [created, setCreated] = useState<CreatedAccessKey | null>(null);
  const [revoking, setRevoking] = useState<AccessKey | null>(null);
  const openCreate = (open: boolean): void =>
    void navigate({ search: open ? { create: true } : {}, replace: true, resetScroll: false });
  const noStore = keys.error instanceof ConflictError;
  const newKey = writable && !noStore && (
    <Button variant="primary" icon={<Plus size={15} />} onClick={() => openCreate(true)}>
      New key
    </Button>
  );
  return (
    <Page
      title="Access keys"
      description="Credentials for S3 clients such as aws, rclone and restic. The secret is shown once."
      actions={newKey}
    >
      <Section title="Endpoint" description="Use the region “auto”.">
        <Panel>
          <CopyField label="Endpoint" labelHidden value={status?.s3_endpoint ?? ''} placeholder="…" />
        </Panel>
      </Section>
      {!writable ? (
        <Panel padded={false}>
          <EmptyState icon={<KeySquare size={18} />} title="Guests cannot create keys">
            Ask a team admin to make you a member.
          </EmptyState>
        </Panel>
      ) : keys.isError && !noStore ? (
        <ErrorState error={keys.error} onRetry={() => void keys.refetch()} />
      ) : (
        <Table
          caption="Access keys"
          columns={keyColumns(setRevoking)}
          rows={noStore ? [] : keys.data}
          rowKey={(key) => key.accessKeyId}
          empty={
            <EmptyState icon={<KeySquare size={18} />} title="No keys yet">
              {noStore ? 'Create a bucket first.' : 'Create a key to let programs read and write objects.'}
            </EmptyState>
          }
        />
      )}
      <CreateKeyDialog
        open={create === true && writable}
        onClose={() => openCreate(false)}
        onCreated={(key) => {
          openCreate(false);
          setCreated(key);
        }}
      />
      <CreatedKeyDialog created={created} onClose={() => setCreated(null)} />
      <RevokeKeyDialog accessKey={revoking} onClose={() => setRevoking(null)} />
    </Page>
  );
}

function RevokeKeyDialog({ accessKey, onClose }: { accessKey: AccessKey | null; onClose: () => void }) {
  const store = useStore();
  const svc = useSvc();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const revocation = useMutation({
    mutationFn: ({ accessKeyId }: AccessKey) => store.keys.revoke(accessKeyId),
    onSuccess: (_answer, { label }) => {
      close();
      done(`${label} revoked`);
      return queryClient.invalidateQueries({ queryKey: keysQuery(svc, workspace).queryKey });
    },
  });
  const close = (): void => {
    revocation.reset();
    onClose();
  };
  return (
    <ConfirmDialog
      open={accessKey !== null}
      onClose={close}
      onConfirm={() => {
        if (accessKey !== null) revocation.mutate(accessKey);
      }}
      title={`Revoke ${accessKey?.label ?? ''}?`}
      action="Revoke key"
      pending={revocation.isPending}
      error={revocation.error}
    >
      Programs that use {accessKey?.accessKeyId} lose access within a second. This cannot be undone.
    </ConfirmDialog>
  );
}

/** Shows a key's secret for the only time, so clicking outside does not close it. */
function CreatedKeyDialog({ created, onClose }: { created: CreatedAccessKey | null; onClose: () => void }) {
  return (
    <Dialog
      open={created !== null}
      onClose={onClose}
      dismissible={false}
      title="Copy your key now"
      description="You won’t be able to see the secret again."
    >
      <FieldStack>
        <CopyField label="Access key ID" value={created?.accessKeyId ?? ''} />
        <CopyField label="Secret access key" value={created?.secretAccessKey ?? ''} />
        <CopyField label="Endpoint" value={created?.s3_endpoint ?? ''} />
        <CopyField label="Region" value={created?.region ?? ''} />
      </FieldStack>
      <DialogActions>
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  );
}
