import { useMutation, useQueryClient, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState, type FormEvent } from 'react';
import { clustersKey, useClusters, clusterQuery } from '../../../api/clusters.ts';
import { paths } from '../../../routes/paths.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { FormError } from '../../../ui/form-error.tsx';
import { InstallSteps } from './install-steps.tsx';
import { nameFault } from './cluster-name.ts';
import type { RotatedToken, ClusterInfo } from '@svc/sdk';
import { Status } from '../../../ui/badge.tsx';
import styles from './add.module.css';

/** Asks for a name, then shows the agent's token and install commands once, until the agent connects. */
export function AddClusterDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const [issued, setIssued] = useState<RotatedToken | null>(null);
  const name = useRef<HTMLInputElement>(null);
  const close = (): void => {
    setIssued(null);
    onClose();
  };
  return (
    <Dialog
      open={open}
      onClose={close}
      width={issued === null ? 'normal' : 'wide'}
      dismissible={issued === null}
      initialFocus={name}
      title={issued === null ? 'Add cluster' : `Connect ${issued.name}`}
      description={
        issued === null
          ? 'An agent in the cluster connects out to this platform. No inbound ports are needed.'
          : 'Run these commands on a machine with kubectl access to the cluster. The token is shown only once.'
      }
    >
      {issued === null ? (
        <NameForm nameRef={name} onIssued={setIssued} onCancel={close} />
      ) : (
        <Connect issued={issued} onClose={close} />
      )}
    </Dialog>
  );
}

interface NameFormProps {
  nameRef: React.RefObject<HTMLInputElement | null>;
  onIssued: (issued: RotatedToken) => void;
  onCancel: () => void;
}

function NameForm({ nameRef, onIssued, onCancel }: NameFormProps) {
  const api = useClusters();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const [name, setName] = useState('');
  const fault = nameFault(name);
  const creation = useMutation({
    mutationFn: () => api.create(name),
    onSuccess: ({ id, token, install }) => {
      onIssued({ id, name, token, install });
      return queryClient.invalidateQueries({ queryKey: clustersKey(workspace) });
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name !== '' && fault === undefined && !creation.isPending) creation.mutate();
  };
  return (
    <form onSubmit={submit}>
      <TextField
        ref={nameRef}
        label="Name"
        value={name}
        maxLength={63}
        autoComplete="off"
        spellCheck={false}
        placeholder="production"
        hint="Lowercase letters, digits and hyphens. Cannot be changed later."
        error={fault}
        onChange={(event) => setName(event.target.value)}
      />
      <FormError error={creation.error} />
      <DialogActions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" pending={creation.isPending} disabled={name === ''}>
          Continue
        </Button>
      </DialogActions>
    </form>
  );
}

/** Shows the install commands and whether the agent has connected. */
export function Connect({ issued, onClose }: { issued: RotatedToken; onClose: () => void }) {
  const workspace = useWorkspace();
  const navigate = useNavigate();
  const openCluster = (): void =>
    void navigate({ to: paths.cluster, params: { workspace: workspace.uuid, cluster: issued.id } });
  return (
    <>
      <InstallSteps issued={issued} />
      <AgentArrival clusterId={issued.id} />
      <DialogActions>
        <Button onClick={onClose}>Close</Button>
        <Button variant="primary" onClick={openCluster}>
          Open cluster
        </Button>
      </DialogActions>
    </>
  );
}

/** Waits for the agent and reports when it is connected. */
function AgentArrival({ clusterId }: { clusterId: string }) {
  const api = useClusters();
  const workspace = useWorkspace();
  const { data } = useQuery(clusterQuery(api, workspace, clusterId));
  return (
    <p className={styles['arrival']} role="status">
      {data?.connected === true ? (
        <>
          <Status tone="ok" live>
            Agent connected
          </Status>
          <span className="muted">{formatVersions(data)}</span>
        </>
      ) : (
        <Status tone="warn" live>
          Waiting for the agent to connect…
        </Status>
      )}
    </p>
  );
}

function formatVersions({ agent_version: agent, kubernetes_version: kubernetes }: ClusterInfo): string {
  return [agent === null ? '' : `Agent ${agent}`, kubernetes === null ? '' : `Kubernetes ${kubernetes}`]
    .filter((each) => each !== '')
    .join(', ');
}
