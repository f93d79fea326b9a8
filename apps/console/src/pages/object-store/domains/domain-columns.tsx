import type { CustomDomain } from '@svc/sdk';
import { Trash2 } from 'lucide-react';
import { Status } from '../../../ui/badge.tsx';
import { Button, IconButton } from '../../../ui/button.tsx';
import type { Column } from '../../../ui/table.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { domainWords } from './domain-words.ts';

/** `onRemove` is null for who may only look. */
export function domainColumns(
  onShow: (hostname: string) => void,
  onRemove: ((domain: CustomDomain) => void) | null,
): Column<CustomDomain>[] {
  return [
    { id: 'hostname', header: 'Host name', cell: ({ hostname }) => hostname },
    {
      id: 'status',
      header: 'State',
      width: '12rem',
      narrowWidth: '9rem',
      cell: (domain) => {
        const { tone, word, live } = domainWords(domain);
        return (
          <Status tone={tone} live={live}>
            {word}
          </Status>
        );
      },
    },
    {
      id: 'checked',
      header: 'Checked',
      width: '8rem',
      wideOnly: true,
      cell: ({ last_checked_at: at }) => (at ? <RelativeTime at={at} /> : <span className="muted">not yet</span>),
    },
    {
      id: 'actions',
      header: 'Actions',
      headerHidden: true,
      align: 'end',
      width: '8rem',
      cell: (domain) => (
        <>
          <Button size="small" aria-label={`Details of ${domain.hostname}`} onClick={() => onShow(domain.hostname)}>
            Details
          </Button>{' '}
          {onRemove !== null && (
            <IconButton size="small" label={`Remove ${domain.hostname}`} onClick={() => onRemove(domain)}>
              <Trash2 size={14} />
            </IconButton>
          )}
        </>
      ),
    },
  ];
}
