import type { AuditEntry, AuditOutcome } from '@svc/sdk';
import { Status, type Tone } from '../../ui/badge.tsx';
import type { Column } from '../../ui/table.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { actorName, shortResource } from './audit-labels.ts';
import styles from './audit.module.css';

const OUTCOMES: Readonly<Record<AuditOutcome, { tone: Tone; label: string }>> = {
  success: { tone: 'ok', label: 'Success' },
  refused: { tone: 'warn', label: 'Denied' },
  failed: { tone: 'danger', label: 'Failed' },
};

export function auditColumns(onOpen: (entry: AuditEntry) => void): Column<AuditEntry>[] {
  return [
    {
      id: 'action',
      header: 'Action',
      cell: (entry) => (
        <>
          <button type="button" className={styles['open']} onClick={() => onOpen(entry)}>
            <code>{entry.action}</code>
            <span className="visually-hidden">, view details</span>
          </button>
          <span className={styles['narrowOnly']}>
            {actorName(entry)}, <RelativeTime at={entry.occurred_at} />
          </span>
        </>
      ),
    },
    { id: 'actor', header: 'Actor', width: '23%', wideOnly: true, cell: actorName },
    {
      id: 'resource',
      header: 'Resource',
      width: '25%',
      wideOnly: true,
      cell: (entry) => (
        <code className="muted" title={entry.resource}>
          {shortResource(entry.resource)}
        </code>
      ),
    },
    { id: 'outcome', header: 'Outcome', width: '6.75rem', cell: (entry) => <Outcome outcome={entry.outcome} /> },
    {
      id: 'time',
      header: 'Time',
      align: 'end',
      width: '7.5rem',
      wideOnly: true,
      cell: (entry) => (
        <span className="muted">
          <RelativeTime at={entry.occurred_at} />
        </span>
      ),
    },
  ];
}

export function Outcome({ outcome }: { outcome: AuditOutcome }) {
  const { tone, label } = OUTCOMES[outcome];
  return <Status tone={tone}>{label}</Status>;
}
