import type { AuditEntry } from '@svc/sdk';
import { Dialog } from '../../ui/dialog.tsx';
import { Definitions } from '../../ui/page.tsx';
import { AbsoluteTime } from '../../ui/time.tsx';
import { Outcome } from './audit-columns.tsx';
import { actorName, credentialName, outcomeReason } from './audit-labels.ts';
import styles from './audit.module.css';

export interface AuditEntryDialogProps {
  open: boolean;
  entry: AuditEntry | null;
  onClose: () => void;
}

export function AuditEntryDialog({ open, entry, onClose }: AuditEntryDialogProps) {
  return (
    <Dialog open={open} onClose={onClose} title={entry?.action ?? 'Audit entry'} width="wide">
      {entry !== null && <EntryDetails entry={entry} />}
    </Dialog>
  );
}

function EntryDetails({ entry }: { entry: AuditEntry }) {
  const reason = outcomeReason(entry);
  const details = JSON.stringify(entry.details, null, 2);
  return (
    <>
      <Definitions
        items={[
          ['Time', <AbsoluteTime key="when" at={entry.occurred_at} />],
          ['Actor', actorName(entry)],
          ['Credential', credentialName(entry)],
          ['Resource', <code key="what">{entry.resource}</code>],
          [
            'Outcome',
            <span key="result" className={styles['result']}>
              <Outcome outcome={entry.outcome} /> <span className="muted">{reason}</span>
            </span>,
          ],
          ['HTTP status', String(entry.status)],
          ['IP address', <code key="from">{entry.remote_address}</code>],
          ['Request ID', <code key="request">{entry.request_id}</code>],
        ]}
      />
      {details !== '{}' && (
        <pre className={styles['details']} role="group" tabIndex={0} aria-label="Details as JSON">
          {details}
        </pre>
      )}
    </>
  );
}
