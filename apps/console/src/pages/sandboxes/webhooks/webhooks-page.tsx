import type { Webhook } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { Plus, Webhook as WebhookIcon } from 'lucide-react';
import { useState } from 'react';
import { useSandboxes, webhooksQuery } from '../../../api/sandboxes.ts';
import { administers } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { Page, Panel } from '../../../ui/page.tsx';
import { SecretDialog } from '../../../ui/secret-dialog.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import { SandboxesTabs } from '../list/sandboxes-tabs.tsx';
import { DeliveriesDialog } from './deliveries-dialog.tsx';
import { webhookColumns } from './webhook-columns.tsx';
import { DeleteWebhookDialog, RotateSecretDialog } from './webhook-changes.tsx';
import { WebhookDialog, type EditedWebhook } from './webhook-dialog.tsx';

/** Which dialog is open, and for which webhook. */
type Opened = Readonly<Record<'deliveries' | 'rotating' | 'deleting', Webhook | null>>;

const CLOSED: Opened = { deliveries: null, rotating: null, deleting: null };

/** Webhooks for events of the workspace's sandboxes. */
export function WebhooksPage() {
  const isAllowed = administers(useWorkspace());
  const [edited, setEdited] = useState<EditedWebhook | null>(null);
  const [{ deliveries, rotating, deleting }, setOpened] = useState(CLOSED);
  const [secret, setSecret] = useState<string | null>(null);
  const close = (): void => setOpened(CLOSED);
  return (
    <Page
      title="Webhooks"
      description="Send events of sandboxes to a URL, signed and at least once."
      navigation={<SandboxesTabs current="webhooks" />}
      actions={
        isAllowed && (
          <Button variant="primary" icon={<Plus size={15} />} onClick={() => setEdited('new')}>
            New webhook
          </Button>
        )
      }
    >
      {isAllowed ? (
        <Webhooks onEdit={setEdited} onOpen={(dialog, webhook) => setOpened({ ...CLOSED, [dialog]: webhook })} />
      ) : (
        <Panel padded={false}>
          <EmptyState title="Only admins see webhooks">Ask a workspace owner to make you an admin.</EmptyState>
        </Panel>
      )}
      <WebhookDialog webhook={edited} onClose={() => setEdited(null)} onCreated={setSecret} />
      <DeliveriesDialog webhook={deliveries} onClose={close} />
      <RotateSecretDialog webhook={rotating} onClose={close} onRotated={setSecret} />
      <DeleteWebhookDialog webhook={deleting} onClose={close} />
      <SecretDialog
        title="Copy the signing secret now"
        description="Your receiver verifies requests with it. You won’t be able to see it again."
        noun="secret"
        secret={secret}
        onClose={() => setSecret(null)}
      />
    </Page>
  );
}

interface WebhooksProps {
  onEdit: (webhook: Webhook) => void;
  onOpen: (dialog: keyof Opened, webhook: Webhook) => void;
}

function Webhooks({ onEdit, onOpen }: WebhooksProps) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const webhooks = useQuery(webhooksQuery(api, workspace));
  if (webhooks.isError) return <ErrorState error={webhooks.error} onRetry={() => void webhooks.refetch()} />;
  return (
    <Table
      caption="Webhooks"
      columns={webhookColumns({
        edit: onEdit,
        showDeliveries: (webhook) => onOpen('deliveries', webhook),
        rotate: (webhook) => onOpen('rotating', webhook),
        remove: (webhook) => onOpen('deleting', webhook),
      })}
      rows={webhooks.data}
      rowKey={({ id }) => id}
      empty={
        <EmptyState icon={<WebhookIcon size={18} />} title="No webhooks yet">
          Create one to tell another service when sandboxes start, stop or fail.
        </EmptyState>
      }
    />
  );
}
