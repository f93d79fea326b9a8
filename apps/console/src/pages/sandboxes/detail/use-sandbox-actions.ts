import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useSandboxes } from '../../../api/sandboxes.ts';
import { sandboxesKey } from '../../../api/query-keys.ts';
import type { Sandbox } from '../../../api/sandbox-types.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { useToasts } from '../../../ui/toast.tsx';

/** Starts, stops and pauses without confirmation; failures appear as toasts. */
export function useSandboxActions() {
  const api = useSandboxes();
  const start = useChange('start', ({ id }) => api.of(id).start());
  const stop = useChange('stop', ({ id }) => api.of(id).stop());
  const pause = useChange('pause', ({ id }) => api.of(id).pause());
  const resume = useChange('resume', ({ id }) => api.of(id).resume());
  return { start, stop, pause, resume };
}

function useChange(verb: string, change: (sandbox: Sandbox) => Promise<unknown>) {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { failed } = useToasts();
  return useMutation({
    mutationFn: change,
    onError: (error, { name }) => failed(`Could not ${verb} ${name}`, error),
    onSettled: () => queryClient.invalidateQueries({ queryKey: sandboxesKey(workspace) }),
  });
}
