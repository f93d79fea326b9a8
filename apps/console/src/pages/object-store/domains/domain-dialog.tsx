import type { CustomDomain } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { RefreshCw } from 'lucide-react';
import { domainsQuery, useStore } from '../../../api/object-store.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { useBucketName } from '../../../layouts/bucket-layout.tsx';
import { useWorkspace } from '../../../session/use-session.ts';
import { Status } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { CopyField } from '../../../ui/copy-field.tsx';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';
import { FieldStack } from '../../../ui/field.tsx';
import { FormError } from '../../../ui/form-error.tsx';
import { Definitions } from '../../../ui/page.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { describeCertificate, parseDns, domainLabel } from './domain-labels.ts';

/** The DNS record to set, and the record currently observed. */
export function DomainDialog({ domain, onClose }: { domain: CustomDomain | null; onClose: () => void }) {
  return (
    <Dialog
      open={domain !== null}
      onClose={onClose}
      width="wide"
      title={domain?.hostname ?? ''}
      description="Serves the bucket once its DNS record points here."
    >
      {domain !== null && <DomainDetails domain={domain} onClose={onClose} />}
    </Dialog>
  );
}

function DomainDetails({ domain, onClose }: { domain: CustomDomain; onClose: () => void }) {
  const store = useStore();
  const svc = useSvc();
  const workspace = useWorkspace();
  const bucket = useBucketName();
  const queryClient = useQueryClient();
  const check = useMutation({
    mutationFn: () => store.domains.status(domain.hostname),
    onSettled: () => queryClient.invalidateQueries({ queryKey: domainsQuery(svc, workspace, bucket).queryKey }),
  });
  const { tone, label, live, next } = domainLabel(domain);
  return (
    <>
      <FieldStack>
        <CopyField label="CNAME record" value={domain.cname_target} />
        <Definitions
          items={[
            [
              'Status',
              <Status key="state" tone={tone} live={live}>
                {label}
              </Status>,
            ],
            ...(next === null ? [] : ([['Next step', next]] as const)),
            ['DNS points to', parseDns(domain).observed ?? 'Nothing yet'],
            ['Certificate', describeCertificate(domain)],
            ['Last check', domain.last_checked_at ? <RelativeTime key="at" at={domain.last_checked_at} /> : 'Not yet'],
          ]}
        />
      </FieldStack>
      <FormError error={check.error} />
      <DialogActions>
        <Button icon={<RefreshCw size={14} />} pending={check.isPending} onClick={() => check.mutate()}>
          Check now
        </Button>
        <Button onClick={onClose}>Done</Button>
      </DialogActions>
    </>
  );
}
