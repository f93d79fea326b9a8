import { useMutation, useQueryClient } from '@tanstack/react-query';
import { sandboxesKey, useSandboxes } from '../../../api/sandboxes.ts';
import type { Sandbox } from '../../../api/sandbox-types.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { useToasts } from '../../../ui/toast.tsx';

/** Starting and stopping, which need no question; what fails is told in a corner. */
export function useSandboxActions() {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { failed } = useToasts();
  const refresh = () => queryClient.invalidateQueries({ queryKey: sandboxesKey(workspace) });
  const start = useMutation({
    mutationFn: ({ id }: Sandbox) => api.of(id).start(),
    onError: (error, { name }) => failed(`${name} was not started`, error),
    onSettled: refresh,
  });
  const stop = useMutation({
    mutationFn: ({ id }: Sandbox) => api.of(id).stop(),
    onError: (error, { name }) => failed(`${name} was not stopped`, error),
    onSettled: refresh,
  });
  return { start, stop };
}
