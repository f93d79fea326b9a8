import type { CustomDomain } from '@svc/sdk';
import { Globe, Trash2 } from 'lucide-react';
import { Status } from '../../../ui/badge.tsx';
import { Button, IconButton } from '../../../ui/button.tsx';
import type { Column } from '../../../ui/table.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { EntryName } from '../../../ui/folder-list.tsx';
import { domainLabel } from './domain-labels.ts';

/** `onRemove` is null for read-only users. */
export function domainColumns(
  onShow: (hostname: string) => void,
  onRemove: ((domain: CustomDomain) => void) | null,
): Column<CustomDomain>[] {
  return [
    {
      id: 'hostname',
      header: 'Hostname',
      cell: ({ hostname }) => <EntryName icon={<Globe size={15} />} name={hostname} onOpen={() => onShow(hostname)} />,
    },
    {
      id: 'status',
      header: 'Status',
      width: '12rem',
      narrowWidth: '9rem',
      cell: (domain) => {
        const { tone, label, live } = domainLabel(domain);
        return (
          <Status tone={tone} live={live}>
            {label}
          </Status>
        );
      },
    },
    {
      id: 'checked',
      header: 'Last check',
      width: '8rem',
      wideOnly: true,
      cell: ({ last_checked_at: at }) => (at ? <RelativeTime at={at} /> : <span className="muted">Not yet</span>),
    },
    {
      id: 'details',
      header: 'Details',
      headerHidden: true,
      align: 'end',
      width: '6rem',
      wideOnly: true,
      cell: ({ hostname }) => (
        <Button size="small" aria-label={`Details for ${hostname}`} onClick={() => onShow(hostname)}>
          Details
        </Button>
      ),
    },
    {
      id: 'actions',
      header: 'Actions',
      headerHidden: true,
      align: 'end',
      width: 'calc(var(--control-small) + 2rem)',
      cell: (domain) =>
        onRemove !== null && (
          <IconButton size="small" label={`Remove ${domain.hostname}`} onClick={() => onRemove(domain)}>
            <Trash2 size={14} />
          </IconButton>
        ),
    },
  ];
}
