import { useCluster } from '../../../layouts/cluster-layout.tsx';
import { administers, mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { CopyField } from '../../../ui/copy-field.tsx';
import { ActionPanel, Panel, Section } from '../../../ui/page.tsx';
import { ONLY_ADMINISTRATORS, ONLY_MEMBERS } from '../detail/cluster-labels.ts';
import { DeleteClusterPanel } from './delete-cluster-panel.tsx';
import { InstallButton } from './install-button.tsx';
import { KubeconfigPanel } from './kubeconfig-panel.tsx';
import { RotateTokenPanel } from './rotate-token-panel.tsx';

/** Replaces actions that the role does not allow with the reason. */
export function ClusterSettingsPage() {
  const cluster = useCluster();
  const workspace = useWorkspace();
  return (
    <>
      <Section title="Identifiers">
        <Panel>
          <CopyField label="Cluster ID" value={cluster.id} />
        </Panel>
      </Section>
      {mayWrite(workspace) ? (
        <KubeconfigPanel cluster={cluster} />
      ) : (
        <ActionPanel title="Kubeconfig" description={ONLY_MEMBERS} />
      )}
      {administers(workspace) ? (
        <>
          <ActionPanel
            title="Install the agent"
            description="Shows the install commands again, with a new agent token."
            action={<InstallButton cluster={cluster} />}
          />
          <RotateTokenPanel cluster={cluster} />
          <DeleteClusterPanel cluster={cluster} />
        </>
      ) : (
        <ActionPanel title="Agent token and deletion" description={ONLY_ADMINISTRATORS} />
      )}
    </>
  );
}
