import type { ApiToken } from '@svc/sdk';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/table.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import styles from './tokens.module.css';

const SOON_MS = 7 * 24 * 60 * 60 * 1000;

export function tokenColumns(onRevoke: (token: ApiToken) => void): Column<ApiToken>[] {
  return [
    {
      id: 'name',
      header: 'Name',
      cell: (token) => (
        <>
          <span className={styles['name']}>{token.name}</span>
          <span className={styles['narrowOnly']}>
            <LastUse token={token} />
          </span>
        </>
      ),
    },
    { id: 'used', header: 'Last used', width: '22%', wideOnly: true, cell: (token) => <LastUse token={token} /> },
    {
      id: 'created',
      header: 'Created',
      width: '16%',
      wideOnly: true,
      cell: (token) => (
        <span className="muted">
          <RelativeTime at={token.created_at} />
        </span>
      ),
    },
    {
      id: 'expires',
      header: 'Expires',
      width: '9rem',
      narrowWidth: '5.75rem',
      cell: (token) => <Expiry token={token} />,
    },
    {
      id: 'actions',
      header: 'Actions',
      headerHidden: true,
      align: 'end',
      width: '6.5rem',
      cell: (token) => (
        <Button size="small" aria-label={`Revoke ${token.name}`} onClick={() => onRevoke(token)}>
          Revoke
        </Button>
      ),
    },
  ];
}

function LastUse({ token }: { token: ApiToken }) {
  if (token.last_used_at === null) return <span className="muted">Never used</span>;
  return <RelativeTime at={token.last_used_at} />;
}

function Expiry({ token }: { token: ApiToken }) {
  if (token.expires_at === null) return <span className="muted">Never</span>;
  const leftMs = Date.parse(token.expires_at) - Date.now();
  if (leftMs <= 0) return <Badge tone="danger">Expired</Badge>;
  const time = <RelativeTime at={token.expires_at} />;
  return leftMs < SOON_MS ? <Badge tone="warn">{time}</Badge> : time;
}
