import { paths } from '../../../routes/paths.ts';
import { administers } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { TabLinks } from '../../../ui/tab-links.tsx';

/** Tabs of the pages about all sandboxes of the workspace. */
export function SandboxesTabs({
  current,
}: {
  current: 'sandboxes' | 'snapshots' | 'templates' | 'volumes' | 'webhooks';
}) {
  const workspace = useWorkspace();
  const params = { workspace: workspace.uuid };
  return (
    <TabLinks
      label="Sandboxes and snapshots"
      tabs={[
        { label: 'Sandboxes', link: { to: paths.sandboxes, params }, current: current === 'sandboxes' },
        { label: 'Snapshots', link: { to: paths.snapshots, params }, current: current === 'snapshots' },
        { label: 'Volumes', link: { to: paths.volumes, params }, current: current === 'volumes' },
        { label: 'Templates', link: { to: paths.templates, params }, current: current === 'templates' },
        ...(administers(workspace)
          ? [{ label: 'Webhooks', link: { to: paths.webhooks, params }, current: current === 'webhooks' }]
          : []),
      ]}
    />
  );
}
