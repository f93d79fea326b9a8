import type { ClusterInfo } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { FlaskConical, Rocket } from 'lucide-react';
import { useRef, useState } from 'react';
import { deploymentsKey, useClusters } from '../../../api/clusters.ts';
import { useCluster } from '../../../layouts/cluster-layout.tsx';
import { paths } from '../../../routes/paths.ts';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { FormError } from '../../../ui/form-error.tsx';
import { Panel, Section } from '../../../ui/page.tsx';
import { EmptyState } from '../../../ui/states.tsx';
import { ONLY_MEMBERS } from '../detail/cluster-labels.ts';
import { DeploymentReport } from '../deployments/deployment-report.tsx';
import { useDeployment } from '../deployments/use-deployment.ts';
import { EMPTY_DRAFT, validateDraft, isReady, toNewDeployment, type DeployDraft } from './deploy-draft.ts';
import { DeployFields } from './deploy-fields.tsx';
import styles from './deploy.module.css';

export function DeployPage() {
  const cluster = useCluster();
  const workspace = useWorkspace();
  if (mayWrite(workspace)) return <DeployForm cluster={cluster} />;
  return (
    <Panel padded={false}>
      <EmptyState title="Guests cannot deploy">{ONLY_MEMBERS}</EmptyState>
    </Panel>
  );
}

/** A manifest with its apply options; an optional dry run shows the fields that would change. */
function DeployForm({ cluster }: { cluster: ClusterInfo }) {
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  const [tried, setTried] = useState<{ id: string; of: DeployDraft } | null>(null);
  const submit = useSubmit(cluster, (id, of) => setTried({ id, of }));
  const ready = isReady(draft) && cluster.connected;
  const send = (dryRun: boolean): void => {
    if (ready && !submit.isPending) submit.mutate({ draft, dryRun });
  };
  const isPending = (dryRun: boolean): boolean => submit.isPending && submit.variables.dryRun === dryRun;
  return (
    <>
      <form
        className={styles['form']}
        onSubmit={(event) => {
          event.preventDefault();
          send(false);
        }}
      >
        <h2>Deploy a manifest</h2>
        <DeployFields
          draft={draft}
          faults={validateDraft(draft)}
          onChange={(fields) => setDraft((known) => ({ ...known, ...fields }))}
          onTry={() => send(true)}
        />
        <FormError error={submit.error} />
        <div className={styles['actions']}>
          {!cluster.connected && <span className="muted">The agent is not connected.</span>}
          <Button
            icon={<FlaskConical size={15} />}
            pending={isPending(true)}
            disabled={!ready}
            onClick={() => send(true)}
          >
            Dry run
          </Button>
          <Button
            type="submit"
            variant="primary"
            icon={<Rocket size={15} />}
            pending={isPending(false)}
            disabled={!ready}
          >
            Deploy
          </Button>
        </div>
      </form>
      {tried !== null && (
        <Section
          title="Dry run"
          description={
            tried.of === draft
              ? 'Preview only. Nothing was changed.'
              : 'For an earlier version of this form. Run it again to preview your changes.'
          }
        >
          <Tried key={tried.id} cluster={cluster} id={tried.id} />
        </Section>
      )}
    </>
  );
}

function Tried({ cluster, id }: { cluster: ClusterInfo; id: string }) {
  const { deployment, progress } = useDeployment(cluster.id, id);
  if (deployment.data === undefined) return <FormError error={deployment.error} />;
  return <DeploymentReport deployment={deployment.data} progress={progress} />;
}

interface Submission {
  draft: DeployDraft;
  dryRun: boolean;
}

function useSubmit(cluster: ClusterInfo, onTried: (id: string, of: DeployDraft) => void) {
  const api = useClusters();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  // Stable across retries of a submission, so that a lost response does not create two deployments.
  const last = useRef<Submission & { key: string }>(null);
  return useMutation({
    mutationFn: ({ draft, dryRun }: Submission) => {
      if (last.current?.draft !== draft || last.current.dryRun !== dryRun) {
        last.current = { draft, dryRun, key: crypto.randomUUID() };
      }
      return api.of(cluster.id).deploy(toNewDeployment(draft, dryRun), { idempotencyKey: last.current.key });
    },
    onSuccess: async ({ id }, { draft, dryRun }) => {
      last.current = null;
      void queryClient.invalidateQueries({ queryKey: deploymentsKey(workspace, cluster.id) });
      if (dryRun) {
        onTried(id, draft);
        return;
      }
      const params = { workspace: workspace.uuid, cluster: cluster.id, deployment: id };
      await navigate({ to: paths.clusterDeployment, params });
    },
  });
}
