import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useSandboxes } from '../../../api/sandboxes.ts';
import { sandboxesKey, sandboxKey } from '../../../api/query-keys.ts';
import { useIsSeen } from '../../../session/use-is-seen.ts';
import { useWorkspace } from '../../../session/use-session.ts';

/** Refetches on every sandbox event from the platform, while the page is visible. Polling continues in parallel. */
export function useLiveSandboxes(sandboxId: string | null): void {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const isSeen = useIsSeen();
  const { uuid } = workspace;
  useEffect(() => {
    if (!isSeen) return;
    const gone = new AbortController();
    const follow = async (): Promise<void> => {
      const source = sandboxId === null ? api : api.of(sandboxId);
      for await (const { sandbox_id: id, type } of source.events({ signal: gone.signal })) {
        const concernsTerminals = type === 'terminal_opened' || type === 'terminal_closed';
        const queryKey = concernsTerminals ? sandboxKey({ uuid }, id) : sandboxesKey({ uuid });
        await queryClient.invalidateQueries({ queryKey });
      }
    };
    // Refused or ended: polling suffices.
    follow().catch(() => undefined);
    return () => gone.abort();
  }, [api, uuid, sandboxId, isSeen, queryClient]);
}
