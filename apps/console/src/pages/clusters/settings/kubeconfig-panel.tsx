import type { ClusterInfo } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Download, FileKey } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { useClusters } from '../../../api/clusters.ts';
import { tokensQuery } from '../../../api/queries.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { useConfirmation } from '../../../session/use-confirmation.tsx';
import { Button } from '../../../ui/button.tsx';
import { CodeBlock } from '../../../ui/code-block.tsx';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';
import { FieldStack, TextField } from '../../../ui/field.tsx';
import { FormError } from '../../../ui/form-error.tsx';
import { ActionPanel } from '../../../ui/page.tsx';
import { Select } from '../../../ui/select.tsx';

/** Creates a kubeconfig with its own token, which can be revoked like any other. */
export function KubeconfigPanel({ cluster }: { cluster: ClusterInfo }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <ActionPanel
        title="Kubeconfig"
        description="Use kubectl or Helm through the agent tunnel. The API server of the cluster stays private."
        action={
          <Button icon={<FileKey size={15} />} onClick={() => setOpen(true)}>
            Create kubeconfig
          </Button>
        }
      />
      <KubeconfigDialog cluster={cluster} open={open} onClose={() => setOpen(false)} />
    </>
  );
}

function KubeconfigDialog({ cluster, open, onClose }: { cluster: ClusterInfo; open: boolean; onClose: () => void }) {
  const [file, setFile] = useState<string | null>(null);
  const close = (): void => {
    setFile(null);
    onClose();
  };
  return (
    <Dialog
      open={open}
      onClose={close}
      width={file === null ? 'normal' : 'wide'}
      dismissible={file === null}
      title="Create kubeconfig"
      description={
        file === null
          ? 'Contains a new API token with all your permissions. Treat the file like a password.'
          : 'Shown only once: the token cannot be retrieved again.'
      }
    >
      {file === null ? (
        <KubeconfigForm cluster={cluster} onMade={setFile} onCancel={close} />
      ) : (
        <MadeKubeconfig name={`${cluster.name}.kubeconfig`} file={file} onClose={close} />
      )}
    </Dialog>
  );
}

const DAY_MS = 86_400_000;
const LIFETIMES = [
  { value: '1', label: '1 day' },
  { value: '30', label: '30 days' },
  { value: '365', label: '1 year' },
] as const;

interface KubeconfigFormProps {
  cluster: ClusterInfo;
  onMade: (file: string) => void;
  onCancel: () => void;
}

function KubeconfigForm({ cluster, onMade, onCancel }: KubeconfigFormProps) {
  const svc = useSvc();
  const api = useClusters();
  const queryClient = useQueryClient();
  const { confirmed, confirmation } = useConfirmation();
  const [namespace, setNamespace] = useState('default');
  const [days, setDays] = useState<'1' | '30' | '365'>('30');
  const making = useMutation({
    mutationFn: async () => {
      // Check the tunnel first, so that no token is created in vain.
      await api.of(cluster.id).endpoints();
      const expiresAt = new Date(Date.now() + Number(days) * DAY_MS).toISOString();
      const name = `kubeconfig for ${cluster.name}`;
      const { token } = await confirmed(() => svc.accounts.createToken({ name, expiresAt }));
      const file = await api.of(cluster.id).kubeconfig({ token, namespace: namespace.trim() || 'default' });
      return `${JSON.stringify(file, null, 2)}\n`; // JSON is valid YAML
    },
    onSuccess: (file) => {
      onMade(file);
      return queryClient.invalidateQueries(tokensQuery(svc));
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!making.isPending) making.mutate();
  };
  return (
    <>
      <form onSubmit={submit}>
        <FieldStack>
          <Select label="Token expires after" options={LIFETIMES} value={days} onChange={setDays} />
          <TextField
            label="Namespace"
            value={namespace}
            maxLength={63}
            autoComplete="off"
            spellCheck={false}
            hint="The default namespace for commands."
            onChange={({ target }) => setNamespace(target.value)}
          />
        </FieldStack>
        <FormError error={making.error} />
        <DialogActions>
          <Button onClick={onCancel}>Cancel</Button>
          <Button type="submit" variant="primary" pending={making.isPending}>
            Create kubeconfig
          </Button>
        </DialogActions>
      </form>
      {confirmation}
    </>
  );
}

function MadeKubeconfig({ name, file, onClose }: { name: string; file: string; onClose: () => void }) {
  const save = (): void => {
    const url = URL.createObjectURL(new Blob([file], { type: 'application/json' }));
    const link = document.createElement('a');
    link.href = url;
    link.download = name;
    link.click();
    URL.revokeObjectURL(url);
  };
  return (
    <>
      <CodeBlock label="kubeconfig" text={file} />
      <DialogActions>
        <Button onClick={onClose}>Done</Button>
        <Button variant="primary" icon={<Download size={15} />} onClick={save}>
          Download
        </Button>
      </DialogActions>
    </>
  );
}
