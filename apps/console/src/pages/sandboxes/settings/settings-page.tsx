import { useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import type { Sandbox } from '../../../api/sandbox-types.ts';
import { paths } from '../../../routes/paths.ts';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { CopyField } from '../../../ui/copy-field.tsx';
import { ActionPanel, Definitions, Panel, Section } from '../../../ui/page.tsx';
import { AbsoluteTime, RelativeTime } from '../../../ui/time.tsx';
import { SandboxPage } from '../detail/sandbox-page.tsx';
import { reasonWords } from '../detail/sandbox-words.ts';
import { ChangeSandboxesDialog } from '../list/change-sandboxes-dialog.tsx';

export function SandboxSettingsPage() {
  return (
    <SandboxPage current="settings" width="narrow">
      {(sandbox) => <Settings sandbox={sandbox} />}
    </SandboxPage>
  );
}

function Settings({ sandbox }: { sandbox: Sandbox }) {
  const workspace = useWorkspace();
  const navigate = useNavigate();
  const [deleting, setDeleting] = useState(false);
  return (
    <>
      <Section title="For programs">
        <Panel>
          <CopyField label="Id" value={sandbox.id} />
        </Panel>
      </Section>
      <Section title="Facts">
        <Panel>
          <Definitions items={factsOf(sandbox)} />
        </Panel>
      </Section>
      <Pairs title="Labels" pairs={sandbox.labels} none="It has no labels." />
      <Pairs title="Environment" pairs={sandbox.environment} none="No variable was given when it was made." />
      {mayWrite(workspace) && (
        <ActionPanel
          title="Delete this sandbox"
          description="Its files and everything that runs in it go at once and for good."
          action={
            <Button variant="danger" icon={<Trash2 size={15} />} onClick={() => setDeleting(true)}>
              Delete
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

type Fact = readonly [name: string, value: ReactNode];

function factsOf(sandbox: Sandbox): Fact[] {
  const { resources, egress_allow: allowed } = sandbox;
  const reason = reasonWords(sandbox.state_reason);
  const at = (time: string | null): ReactNode => (time === null ? 'never' : <AbsoluteTime at={time} />);
  return [
    ['Image', sandbox.image],
    ...(reason === null ? [] : [['Because', reason] as const]),
    ['Created', at(sandbox.created_at)],
    ['Started', at(sandbox.started_at)],
    ['Last used', <RelativeTime key="used" at={sandbox.last_activity_at} />],
    ['Ends by itself', at(sandbox.expires_at)],
    ['CPU', `${resources.cpu}`],
    ['Memory', `${resources.memory_mb} MiB`],
    ['Disk', `${resources.disk_mb} MiB`],
    ['Processes', `${resources.pids} at most`],
    ['Network', sandbox.network === 'none' ? 'none' : (allowed?.join(', ') ?? 'public internet')],
    ['Isolated by', `${sandbox.driver}, ${sandbox.shares_kernel ? 'sharing the kernel of the host' : 'gVisor'}`],
  ];
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
