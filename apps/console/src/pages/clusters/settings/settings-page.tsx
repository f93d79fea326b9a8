import { administers, mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { CopyField } from '../../../ui/copy-field.tsx';
import { Panel, Section } from '../../../ui/page.tsx';
import { ClusterPage } from '../detail/cluster-page.tsx';
import { ONLY_ADMINISTRATORS, ONLY_MEMBERS } from '../detail/cluster-words.ts';
import { DeleteClusterPanel } from './delete-cluster-panel.tsx';
import { KubeconfigPanel } from './kubeconfig-panel.tsx';
import { RotateTokenPanel } from './rotate-token-panel.tsx';

/** What somebody may not do is not offered; in its place stands why. */
export function ClusterSettingsPage() {
  const workspace = useWorkspace();
  return (
    <ClusterPage current="settings" width="narrow">
      {(cluster) => (
        <>
          <Section title="For programs">
            <Panel>
              <CopyField label="Id" value={cluster.id} />
            </Panel>
          </Section>
          {mayWrite(workspace) ? (
            <KubeconfigPanel cluster={cluster} />
          ) : (
            <NotOffered what="A kubeconfig is for those who may change something." why={ONLY_MEMBERS} />
          )}
          {administers(workspace) ? (
            <>
              <RotateTokenPanel cluster={cluster} />
              <DeleteClusterPanel cluster={cluster} />
            </>
          ) : (
            <NotOffered what="Rotating the token and removing the cluster." why={ONLY_ADMINISTRATORS} />
          )}
        </>
      )}
    </ClusterPage>
  );
}

function NotOffered({ what, why }: { what: string; why: string }) {
  return (
    <Panel>
      <p className="muted">
        {what} {why}
      </p>
    </Panel>
  );
}
