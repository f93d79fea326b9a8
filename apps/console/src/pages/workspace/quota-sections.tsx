import type { QuotaState, QuotaSubject } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { quotasQuery } from '../../api/queries.ts';
import { useSvc } from '../../api/svc-context.ts';
import { useSession, useWorkspace } from '../../session/use-session.ts';
import { Button } from '../../ui/button.tsx';
import { Panel, Section } from '../../ui/page.tsx';
import { Meter } from '../../ui/plots.tsx';
import { ErrorState, LoadingRegion } from '../../ui/states.tsx';
import { ChangeQuotaDialog } from './change-quota-dialog.tsx';
import { amountText } from './quota-amounts.ts';
import styles from './quotas.module.css';

const RAISED_BY = 'Ask the platform operator to raise them.';

/** Limits and usage of the workspace and, for its owner, totals across all workspaces. */
export function QuotaSections() {
  const svc = useSvc();
  const workspace = useWorkspace();
  const { data, error, refetch } = useQuery(quotasQuery(svc, workspace));
  if (data === undefined) {
    return (
      <Section title="Quotas">
        <Panel>
          {error === null ? <LoadingRegion /> : <ErrorState error={error} onRetry={() => void refetch()} />}
        </Panel>
      </Section>
    );
  }
  const { owner } = data;
  return (
    <>
      <Quotas
        title="Quotas"
        description={`Shared by everyone in this workspace. ${RAISED_BY}`}
        quotas={data.quotas}
        subject={{ scope: 'workspace', subject: workspace.uuid }}
      />
      {owner !== null && (
        <Quotas
          title="Quotas across your workspaces"
          description={`Totals across all workspaces that you own. ${RAISED_BY}`}
          quotas={owner.quotas}
          subject={{ scope: 'owner', subject: owner.id }}
        />
      )}
    </>
  );
}

interface QuotasProps {
  title: string;
  description: string;
  quotas: readonly QuotaState[];
  subject: QuotaSubject;
}

function Quotas({ title, description, quotas, subject }: QuotasProps) {
  const { me } = useSession();
  const [changing, setChanging] = useState<QuotaState | null>(null);
  return (
    <Section title={title} description={description}>
      <Panel>
        <ul className={styles['list']} aria-label={title}>
          {quotas.map((quota) => (
            <li key={quota.name} className={styles['row']}>
              <QuotaRow quota={quota} />
              {me.user.operator && (
                <Button size="small" aria-label={`Change limit of ${quota.title}`} onClick={() => setChanging(quota)}>
                  Change
                </Button>
              )}
            </li>
          ))}
        </ul>
      </Panel>
      <ChangeQuotaDialog quota={changing} subject={subject} onClose={() => setChanging(null)} />
    </Section>
  );
}

function QuotaRow({ quota }: { quota: QuotaState }) {
  const { title, description, unit, limit, used } = quota;
  const limitText = limit === null ? 'Unlimited' : amountText(unit, limit);
  const text = used === null ? limitText : `${amountText(unit, used)} of ${limitText}`;
  return (
    <div className={styles['quota']}>
      <span title={description}>{title}</span>
      <span className="muted">{text}</span>
      {used !== null && limit !== null && <Meter label={title} value={used} limit={limit} text={text} />}
    </div>
  );
}
