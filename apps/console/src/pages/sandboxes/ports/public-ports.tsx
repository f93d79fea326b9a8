import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { publicPortsQuery, useSandboxes } from '../../../api/sandboxes.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { CopyField } from '../../../ui/copy-field.tsx';
import { FieldStack } from '../../../ui/field.tsx';
import { FormError } from '../../../ui/form-error.tsx';
import { Panel, Section } from '../../../ui/page.tsx';
import { ErrorState } from '../../../ui/states.tsx';
import { Switch } from '../../../ui/switch.tsx';

/** Opens every port without a link, as E2B clients expect. Shows their address while they are open. */
export function PublicPorts({ sandbox }: { sandbox: string }) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const query = publicPortsQuery(api, workspace, sandbox);
  const state = useQuery(query);
  const change = useMutation({
    mutationFn: (isPublic: boolean) => api.of(sandbox).publishPorts(isPublic),
    onSuccess: (answer) => queryClient.setQueryData(query.queryKey, answer),
  });
  return (
    <Section title="Public ports" description="Anyone who knows the address of a port can reach it, without a link.">
      <Panel>
        {state.isError ? (
          <ErrorState error={state.error} onRetry={() => void state.refetch()} />
        ) : (
          <FieldStack>
            <Switch
              label="Open every port"
              checked={state.data?.public === true}
              disabled={state.data === undefined || change.isPending}
              onChange={(isPublic) => change.mutate(isPublic)}
            />
            {state.data?.public === true && (
              <CopyField label="Address of a port; replace {port} with its number" value={state.data.url} />
            )}
          </FieldStack>
        )}
        <FormError error={change.error} />
      </Panel>
    </Section>
  );
}
