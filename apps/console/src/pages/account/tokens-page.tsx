import type { ApiToken, CreatedApiToken } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import { tokensQuery } from '../../api/queries.ts';
import { useSvc } from '../../api/svc-context.ts';
import { Button } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { CreateTokenDialog } from './create-token-dialog.tsx';
import { RevokeTokenDialog } from './revoke-token-dialog.tsx';
import { tokenColumns } from './token-columns.tsx';
import { SecretDialog } from '../../ui/secret-dialog.tsx';

const route = getRouteApi('/shell/account/tokens');

export function TokensPage() {
  const svc = useSvc();
  const tokens = useQuery(tokensQuery(svc));
  const { create } = route.useSearch();
  const navigate = route.useNavigate();
  const [created, setCreated] = useState<CreatedApiToken | null>(null);
  const [revoking, setRevoking] = useState<ApiToken | null>(null);
  const openCreate = (open: boolean): void =>
    void navigate({ search: open ? { create: true } : {}, replace: true, resetScroll: false });
  const newToken = (
    <Button variant="primary" icon={<Plus size={15} />} onClick={() => openCreate(true)}>
      New token
    </Button>
  );
  return (
    <Page
      title="API tokens"
      description="Tokens let programs act as you in all your workspaces. A token is shown once, when you create it."
      actions={newToken}
    >
      {tokens.isError ? (
        <ErrorState error={tokens.error} onRetry={() => void tokens.refetch()} />
      ) : (
        <Table
          caption="API tokens"
          columns={tokenColumns(setRevoking)}
          rows={tokens.data}
          rowKey={(token) => token.id}
          empty={
            <EmptyState icon={<KeyRound size={18} />} title="No tokens yet">
              Create one for the command line, a pipeline or any program that calls the API.
            </EmptyState>
          }
        />
      )}
      <CreateTokenDialog
        open={create === true}
        onClose={() => openCreate(false)}
        onCreated={(token) => {
          setCreated(token);
          openCreate(false);
        }}
      />
      <CreatedTokenDialog token={created} onClose={() => setCreated(null)} />
      <RevokeTokenDialog token={revoking} onClose={() => setRevoking(null)} />
    </Page>
  );
}

function CreatedTokenDialog({ token, onClose }: { token: CreatedApiToken | null; onClose: () => void }) {
  return (
    <SecretDialog
      title="Copy your token now"
      description="You won’t be able to see it again."
      noun="token"
      secret={token?.token ?? null}
      onClose={onClose}
    />
  );
}
