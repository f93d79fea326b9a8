import type { CustomDomain } from '@svc/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Globe, Plus } from 'lucide-react';
import { useState } from 'react';
import { domainsQuery, useStore } from '../../../api/object-store.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { useBucketName } from '../../../layouts/bucket-layout.tsx';
import { PageActions } from '../../../ui/page.tsx';
import { administers } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import { useToasts } from '../../../ui/toast.tsx';
import { AddDomainDialog } from './add-domain-dialog.tsx';
import { domainColumns } from './domain-columns.tsx';
import { DomainDialog } from './domain-dialog.tsx';

export function DomainsPage() {
  const svc = useSvc();
  const workspace = useWorkspace();
  const bucket = useBucketName();
  const domains = useQuery(domainsQuery(svc, workspace, bucket));
  const [adding, setAdding] = useState(false);
  const [shown, setShown] = useState<string | null>(null);
  const [removing, setRemoving] = useState<CustomDomain | null>(null);
  const administered = administers(workspace);
  const add = administered && (
    <Button variant="primary" icon={<Plus size={15} />} onClick={() => setAdding(true)}>
      Add domain
    </Button>
  );
  return (
    <>
      <PageActions>{add}</PageActions>
      {domains.isError ? (
        <ErrorState error={domains.error} onRetry={() => void domains.refetch()} />
      ) : (
        <Table
          caption={`Domains of ${bucket}`}
          columns={domainColumns(setShown, administered ? setRemoving : null)}
          rows={domains.data}
          rowKey={(domain) => domain.hostname}
          empty={
            <EmptyState icon={<Globe size={18} />} title="No domains yet">
              Serve this bucket from your own hostname, with a certificate that is issued and renewed automatically.
            </EmptyState>
          }
        />
      )}
      <AddDomainDialog
        open={adding}
        onClose={() => setAdding(false)}
        onAdded={({ hostname }) => {
          setAdding(false);
          setShown(hostname);
        }}
      />
      <DomainDialog
        domain={domains.data?.find(({ hostname }) => hostname === shown) ?? null}
        onClose={() => setShown(null)}
      />
      <RemoveDomainDialog domain={removing} onClose={() => setRemoving(null)} />
    </>
  );
}

function RemoveDomainDialog({ domain, onClose }: { domain: CustomDomain | null; onClose: () => void }) {
  const store = useStore();
  const svc = useSvc();
  const workspace = useWorkspace();
  const bucket = useBucketName();
  const queryClient = useQueryClient();
  const { done } = useToasts();
  const removal = useMutation({
    mutationFn: ({ hostname }: CustomDomain) => store.domains.remove(hostname),
    onSuccess: (_answer, { hostname }) => {
      close();
      done(`${hostname} removed`);
      return queryClient.invalidateQueries({ queryKey: domainsQuery(svc, workspace, bucket).queryKey });
    },
  });
  const close = (): void => {
    removal.reset();
    onClose();
  };
  return (
    <ConfirmDialog
      open={domain !== null}
      onClose={close}
      onConfirm={() => {
        if (domain !== null) removal.mutate(domain);
      }}
      title={`Remove ${domain?.hostname ?? ''}?`}
      action="Remove domain"
      pending={removal.isPending}
      error={removal.error}
    >
      It stops serving the bucket immediately. Remove its DNS record as well.
    </ConfirmDialog>
  );
}
