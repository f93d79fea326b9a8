import type { PortPreview } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ExternalLink, Link as LinkIcon } from 'lucide-react';
import { useState } from 'react';
import { useSandboxes } from '../../../api/sandboxes.ts';
import { sandboxKey } from '../../../api/query-keys.ts';
import type { Sandbox } from '../../../api/sandbox-types.ts';
import { useSandbox } from '../../../layouts/sandbox-layout.tsx';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button, buttonClass } from '../../../ui/button.tsx';
import { CopyField } from '../../../ui/copy-field.tsx';
import { TextField } from '../../../ui/field.tsx';
import { FormError } from '../../../ui/form-error.tsx';
import { Panel, Section } from '../../../ui/page.tsx';
import { Select } from '../../../ui/select.tsx';
import { EmptyState } from '../../../ui/states.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { NotRunning } from '../detail/not-running.tsx';
import { OpenPorts } from './open-ports.tsx';
import { PublicPorts } from './public-ports.tsx';
import styles from './ports.module.css';

const LIFETIMES = [
  { value: '900', label: '15 minutes' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
] as const;

type Lifetime = (typeof LIFETIMES)[number]['value'];

export function PortsPage() {
  const sandbox = useSandbox();
  const workspace = useWorkspace();
  if (sandbox.status !== 'running') return <NotRunning sandbox={sandbox} what="port previews" />;
  if (mayWrite(workspace)) return <Ports sandbox={sandbox} />;
  return (
    <Panel padded={false}>
      <EmptyState title="Guests cannot open ports">Ask a workspace owner to make you a member.</EmptyState>
    </Panel>
  );
}

/** A link is shown only to its creator and only until the page is left. After that, create another one. */
function Ports({ sandbox }: { sandbox: Sandbox }) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const [links, setLinks] = useState<readonly PortPreview[]>([]);
  const show = (link: PortPreview): void => {
    setLinks((before) => [link, ...before].slice(0, 20));
    void queryClient.invalidateQueries({ queryKey: [...sandboxKey(workspace, sandbox.id), 'ports'] });
  };
  return (
    <>
      <Section
        title="Open a port"
        description="Share a server in the sandbox over HTTP and WebSocket with anyone who has the link."
      >
        <Panel>
          <PortForm sandbox={sandbox} onMade={show} />
        </Panel>
      </Section>
      {links.map((link) => (
        <PortLink key={link.id} link={link} />
      ))}
      <PublicPorts sandbox={sandbox.id} />
      <OpenPorts
        sandbox={sandbox.id}
        onClosed={(port) => setLinks((before) => before.filter((link) => link.port !== port))}
      />
    </>
  );
}

function PortForm({ sandbox, onMade }: { sandbox: Sandbox; onMade: (link: PortPreview) => void }) {
  const api = useSandboxes();
  const [port, setPort] = useState('3000');
  const [lifetime, setLifetime] = useState<Lifetime>('3600');
  const number = Number(port);
  const isPort = /^\d+$/.test(port) && number >= 1 && number <= 65_535;
  const opening = useMutation({
    mutationFn: () => api.of(sandbox.id).previewPort(number, { expiresInSeconds: Number(lifetime) }),
    onSuccess: onMade,
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isPort) opening.mutate();
      }}
    >
      <div className={styles['form']}>
        <TextField
          label="Port"
          inputMode="numeric"
          value={port}
          required
          maxLength={5}
          autoComplete="off"
          error={port !== '' && !isPort ? 'Enter a port from 1 to 65535.' : undefined}
          onChange={(event) => setPort(event.target.value)}
        />
        <Select label="Link expires after" options={LIFETIMES} value={lifetime} onChange={setLifetime} />
        <Button type="submit" icon={<LinkIcon size={15} />} pending={opening.isPending}>
          Create link
        </Button>
      </div>
      <FormError error={opening.error} />
    </form>
  );
}

function PortLink({ link: { port, url, expires_at: expiresAt } }: { link: PortPreview }) {
  return (
    <Panel>
      <div className={styles['link']}>
        <div className={styles['linkHeader']}>
          <h2>Port {port}</h2>
          <span className="muted">
            expires <RelativeTime at={expiresAt} />
          </span>
          <a className={buttonClass({ size: 'small' })} href={url} target="_blank" rel="noreferrer">
            <ExternalLink size={14} /> Open
          </a>
        </div>
        <CopyField label="Link" labelHidden value={url} />
      </div>
    </Panel>
  );
}
