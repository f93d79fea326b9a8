import type { Workspace } from '@svc/sdk';
import { Link, useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { Fragment, useState, type ReactNode } from 'react';
import type { Sandbox } from '../../../api/sandbox-types.ts';
import { useSandbox } from '../../../layouts/sandbox-layout.tsx';
import { paths } from '../../../routes/paths.ts';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { CopyField } from '../../../ui/copy-field.tsx';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { formatCount } from '../../../ui/format-number.ts';
import { ActionPanel, Definitions, Panel, Section } from '../../../ui/page.tsx';
import { AbsoluteTime, RelativeTime } from '../../../ui/time.tsx';
import { reasonLabel } from '../detail/sandbox-labels.ts';
import { EgressRules } from '../secrets/egress-rules.tsx';
import { ChangeSandboxesDialog } from '../list/change-sandboxes-dialog.tsx';

export function SandboxSettingsPage() {
  const sandbox = useSandbox();
  const workspace = useWorkspace();
  const navigate = useNavigate();
  const [deleting, setDeleting] = useState(false);
  return (
    <>
      <Section title="Identifiers">
        <Panel>
          <CopyField label="Sandbox ID" value={sandbox.id} />
        </Panel>
      </Section>
      <Section title="Details">
        <Panel>
          <Definitions items={renderFacts(workspace, sandbox)} />
        </Panel>
      </Section>
      <EgressRules sandbox={sandbox} />
      <Pairs title="Labels" pairs={sandbox.labels} none="No labels." />
      <Pairs title="Environment" pairs={sandbox.environment} none="No environment variables." />
      {mayWrite(workspace) && (
        <ActionPanel
          title="Delete sandbox"
          description="Deletes the sandbox and its files permanently."
          action={
            <Button variant="danger" icon={<Trash2 size={15} />} onClick={() => setDeleting(true)}>
              Delete sandbox…
            </Button>
          }
        />
      )}
      <ChangeSandboxesDialog
        change="delete"
        sandboxes={deleting ? [sandbox] : []}
        onClose={() => setDeleting(false)}
        onDone={() => void navigate({ to: paths.sandboxes, params: { workspace: workspace.uuid } })}
      />
    </>
  );
}

const ON_DRAIN = { stop: 'Stop', snapshot: 'Stop and take a snapshot', move: 'Move to another node' } as const;

type Fact = readonly [name: string, value: ReactNode];

function renderFacts({ uuid: workspace }: Workspace, sandbox: Sandbox): Fact[] {
  const { resources } = sandbox;
  const reason = reasonLabel(sandbox.state_reason);
  const at = (time: string | null): ReactNode => (time === null ? 'Never' : <AbsoluteTime at={time} />);
  return [
    ['Image', sandbox.image],
    ...(reason === null ? [] : [['Reason', reason] as const]),
    ['Created', at(sandbox.created_at)],
    ['Started', at(sandbox.started_at)],
    ['Last used', <RelativeTime key="used" at={sandbox.last_activity_at} />],
    ['Auto-delete', at(sandbox.expires_at)],
    ['When its node is drained', ON_DRAIN[sandbox.on_drain]],
    [
      'When its node is lost',
      sandbox.on_node_lost === 'restore' ? 'Restore the last archived snapshot' : 'Wait for the node',
    ],
    ['CPU', `${resources.cpu}`],
    ['Memory', formatBytes(resources.memory_mb * 1024 ** 2)],
    ['Disk', formatBytes(resources.disk_mb * 1024 ** 2)],
    ...sandbox.volumes.map(
      ({ name, path, read_only: ro }) =>
        [
          `Volume ${name}`,
          <Fragment key={path}>
            <Link to={paths.volume} params={{ workspace, volume: name }}>
              {path}
            </Link>
            {ro && ' (read-only)'}
          </Fragment>,
        ] as const,
    ),
    ...sandbox.mounts.map(
      ({ bucket, prefix, path, read_only: ro, forked_from: source }) =>
        [
          `Bucket ${prefix === '' ? bucket : `${bucket}/${prefix}`}`,
          `${path}${ro ? ' (read-only)' : ''}${source === undefined ? '' : `, forked from ${source}`}`,
        ] as const,
    ),
    ['Process limit', formatCount(resources.pids)],
    ...(resources.gpus === undefined ? [] : [['GPUs', formatCount(resources.gpus)] as const]),
    ['Network', describeNetwork(sandbox)],
    ...(sandbox.cluster === null ? [] : [['Cluster', sandbox.cluster] as const]),
    ['Isolation', `${sandbox.driver}, ${sandbox.shares_kernel ? 'shared host kernel' : 'gVisor'}`],
  ];
}

function describeNetwork({ network, egress_allow: allowed, egress_deny: denied }: Sandbox): string {
  if (network === 'none') return 'None';
  if (denied.length > 0) return `Public internet except ${denied.join(', ')}`;
  return allowed?.join(', ') ?? 'Public internet';
}

function Pairs({ title, pairs, none }: { title: string; pairs: Readonly<Record<string, string>>; none: string }) {
  const entries = Object.entries(pairs);
  return (
    <Section title={title}>
      <Panel>
        {entries.length === 0 ? (
          <p className="muted">{none}</p>
        ) : (
          <Definitions items={entries.map(([key, value]) => [key, <code key={key}>{value}</code>] as const)} />
        )}
      </Panel>
    </Section>
  );
}
