import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { sandboxesKey } from '../../../api/query-keys.ts';
import { paths } from '../../../routes/paths.ts';
import { useWorkspace } from '../../../session/use-session.ts';

/** Navigates to the created sandbox. */
export function useOpened(onClose: () => void): (id: string | null) => Promise<void> {
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return async (id) => {
    await queryClient.invalidateQueries({ queryKey: sandboxesKey(workspace) });
    onClose();
    if (id !== null) await navigate({ to: paths.sandbox, params: { workspace: workspace.uuid, sandbox: id } });
  };
}
