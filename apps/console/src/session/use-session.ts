import type { Team, Workspace } from '@svc/sdk';
import { useMutation, useSuspenseQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { meQuery, teamsQuery, workspacesQuery, type SignedInUser } from '../api/queries.ts';
import { useSvc } from '../api/svc-context.ts';
import { entrancePaths } from '../routes/paths.ts';
import { chooseWorkspace } from './choose-workspace.ts';
import { readLastWorkspace } from './last-workspace.ts';

export interface Session {
  me: SignedInUser;
  workspaces: readonly Workspace[];
  teams: readonly Team[];
}

/** The session, loaded by the shell's route before any of its pages. */
export function useSession(): Session {
  const svc = useSvc();
  const { data: me } = useSuspenseQuery(meQuery(svc));
  const { data: workspaces } = useSuspenseQuery(workspacesQuery(svc));
  const { data: teams } = useSuspenseQuery(teamsQuery(svc));
  return { me, workspaces, teams };
}

/** The workspace in the URL, or the one viewed last. */
export function useWorkspace(): Workspace {
  const { workspace: uuid } = useParams({ strict: false });
  const { me, workspaces } = useSession();
  const found = chooseWorkspace(workspaces, [uuid, readLastWorkspace(), me.workspace_uuid]);
  if (found === undefined) throw new Error('the account has no workspace');
  return found;
}

/** Ends the session and leaves by a full page load, so that nothing stays in memory. */
export function useSignOut() {
  const svc = useSvc();
  return useMutation({
    mutationFn: ({ everywhere }: { everywhere: boolean }) => svc.accounts.signOut({ everywhere }),
    onSuccess: () => window.location.assign(entrancePaths.signIn),
  });
}
