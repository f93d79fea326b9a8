import type { OpenPort } from '@svc/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { openPortsQuery, useSandboxes } from '../../../api/sandboxes.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { Section } from '../../../ui/page.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { Table, type Column } from '../../../ui/table.tsx';
import { RelativeTime } from '../../../ui/time.tsx';
import { useToasts } from '../../../ui/toast.tsx';

export interface OpenPortsProps {
  sandbox: string;
  /** Called when a port's links are revoked. */
  onClosed: (port: number) => void;
}

/** All active links. Only their creators know the signatures, so the links themselves are not shown. */
export function OpenPorts({ sandbox, onClosed }: OpenPortsProps) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { done, failed } = useToasts();
  const query = openPortsQuery(api, workspace, sandbox);
  const ports = useQuery(query);
  const closing = useMutation({
    mutationFn: (port: number) => api.of(sandbox).closePorts({ port }),
    onSuccess: (_count, port) => {
      done(`Links to port ${port} revoked`);
      onClosed(port);
    },
    onError: (error, port) => failed(`Could not revoke the links to port ${port}`, error),
    onSettled: () => queryClient.invalidateQueries({ queryKey: query.queryKey }),
  });
  return (
    <Section title="Active links" description="Revoking a link closes its open connections.">
      {ports.isError ? (
        <ErrorState error={ports.error} onRetry={() => void ports.refetch()} />
      ) : (
        <Table
          caption="Active links"
          columns={createColumns(closing.mutate)}
          rows={ports.data}
          rowKey={({ id }) => id}
          skeletonRows={2}
          empty={<EmptyState title="No active links">No ports of this sandbox are reachable from outside.</EmptyState>}
        />
      )}
    </Section>
  );
}

function createColumns(onClose: (port: number) => void): Column<OpenPort>[] {
  return [
    { id: 'port', header: 'Port', cell: ({ port }) => port },
    {
      id: 'created',
      header: 'Created',
      width: '8rem',
      wideOnly: true,
      cell: (link) => <RelativeTime at={link.created_at} />,
    },
    { id: 'expires', header: 'Expires', width: '7rem', cell: (link) => <RelativeTime at={link.expires_at} /> },
    {
      id: 'actions',
      header: 'Actions',
      headerHidden: true,
      align: 'end',
      width: '8rem',
      cell: ({ port }) => (
        <Button size="small" aria-label={`Revoke links to port ${port}`} onClick={() => onClose(port)}>
          Revoke
        </Button>
      ),
    },
  ];
}
