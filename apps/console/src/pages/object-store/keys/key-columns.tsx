import type { AccessKey } from '@svc/sdk';
import { Badge, Status, type Tone } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { TwoLines } from '../../../ui/list.tsx';
import type { Column } from '../../../ui/table.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import styles from '../buckets/buckets.module.css';

const TONES: Readonly<Record<AccessKey['status'], Tone>> = {
  active: 'ok',
  limited: 'warn',
  suspended: 'danger',
  expired: 'neutral',
};

export function keyColumns(onRevoke: (key: AccessKey) => void): Column<AccessKey>[] {
  return [
    {
      id: 'label',
      header: 'Label',
      cell: (key) => (
        <TwoLines title={key.accessKeyId} under={<code>{key.accessKeyId}</code>}>
          {key.label}
        </TwoLines>
      ),
    },
    {
      id: 'permissions',
      header: 'Permissions',
      width: '9.5rem',
      wideOnly: true,
      cell: ({ permissions }) => (
        <span className={styles['badges']}>
          {permissions.map((permission) => (
            <Badge key={permission}>{permission}</Badge>
          ))}
        </span>
      ),
    },
    {
      id: 'status',
      header: 'Status',
      width: '6.5rem',
      cell: ({ status, status_reason: reason }) => (
        <span title={reason ?? undefined}>
          <Status tone={TONES[status]}>{status}</Status>
        </span>
      ),
    },
    {
      id: 'creator',
      header: 'Created by',
      width: '9rem',
      wideOnly: true,
      cell: ({ created_by_name: name, created_by: id }) => (name === '' ? <code className="muted">{id}</code> : name),
    },
    {
      id: 'buckets',
      header: 'Buckets',
      width: '8rem',
      wideOnly: true,
      cell: ({ buckets }) => (reachesAll(buckets) ? <span className="muted">All</span> : buckets.join(', ')),
    },
    {
      id: 'used',
      header: 'Last used',
      width: '7rem',
      wideOnly: true,
      cell: ({ last_used_at: at }) => (at === null ? <span className="muted">Never</span> : <RelativeTime at={at} />),
    },
    {
      id: 'expires',
      header: 'Expires',
      width: '6rem',
      wideOnly: true,
      cell: ({ expires_at: at }) => (at === null ? <span className="muted">Never</span> : <RelativeTime at={at} />),
    },
    {
      id: 'actions',
      header: 'Actions',
      headerHidden: true,
      align: 'end',
      width: '6.5rem',
      cell: (key) => (
        <Button size="small" aria-label={`Revoke ${key.label}`} onClick={() => onRevoke(key)}>
          Revoke
        </Button>
      ),
    },
  ];
}

function reachesAll(buckets: readonly string[]): boolean {
  return buckets.length === 0 || buckets.includes('*');
}
