import type { Webhook } from '@svc/sdk';
import { Ellipsis, KeyRound, ListChecks, Pencil, Trash2 } from 'lucide-react';
import { IconButton } from '../../../ui/button.tsx';
import { Status } from '../../../ui/badge.tsx';
import { TwoLines } from '../../../ui/list.tsx';
import { Menu, MenuItem, MenuSeparator } from '../../../ui/menu.tsx';
import type { Column } from '../../../ui/table.tsx';
import { eventLabel } from '../events/event-labels.ts';

export interface WebhookActions {
  edit: (webhook: Webhook) => void;
  showDeliveries: (webhook: Webhook) => void;
  rotate: (webhook: Webhook) => void;
  remove: (webhook: Webhook) => void;
}

export function webhookColumns(actions: WebhookActions): Column<Webhook>[] {
  return [
    {
      id: 'url',
      header: 'URL',
      cell: ({ url, description, last_error: error, failing_since: since }) => (
        <TwoLines title={url} under={since === null ? description : error}>
          {url}
        </TwoLines>
      ),
    },
    {
      id: 'events',
      header: 'Events',
      width: '16rem',
      wideOnly: true,
      cell: ({ events }) => <span title={describeEvents(events)}>{describeEvents(events)}</span>,
    },
    { id: 'state', header: 'State', width: '7rem', cell: (webhook) => <State webhook={webhook} /> },
    {
      id: 'actions',
      header: 'Actions',
      headerHidden: true,
      align: 'end',
      width: '4rem',
      cell: (webhook) => <Actions webhook={webhook} actions={actions} />,
    },
  ];
}

function describeEvents(events: Webhook['events']): string {
  return events === null ? 'All events' : events.map((type) => eventLabel({ type }).label).join(', ');
}

function State({ webhook: { enabled, failing_since: since, disabled_reason: reason } }: { webhook: Webhook }) {
  if (enabled) return since === null ? <Status tone="ok">Enabled</Status> : <Status tone="warn">Failing</Status>;
  return (
    <span title={reason ?? undefined}>
      <Status tone={reason === null ? 'neutral' : 'danger'}>Disabled</Status>
    </span>
  );
}

function Actions({ webhook, actions }: { webhook: Webhook; actions: WebhookActions }) {
  return (
    <Menu
      align="end"
      trigger={
        <IconButton label={`Actions for ${webhook.url}`} size="small">
          <Ellipsis size={15} />
        </IconButton>
      }
    >
      <MenuItem icon={<ListChecks size={14} />} onClick={() => actions.showDeliveries(webhook)}>
        Deliveries
      </MenuItem>
      <MenuItem icon={<Pencil size={14} />} onClick={() => actions.edit(webhook)}>
        Edit…
      </MenuItem>
      <MenuItem icon={<KeyRound size={14} />} onClick={() => actions.rotate(webhook)}>
        Rotate secret…
      </MenuItem>
      <MenuSeparator />
      <MenuItem icon={<Trash2 size={14} />} tone="danger" onClick={() => actions.remove(webhook)}>
        Delete…
      </MenuItem>
    </Menu>
  );
}
