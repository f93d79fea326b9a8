import { NotFoundError, UnauthorizedError, type CoreClient, type Team, type Workspace } from '@svc/sdk';
import type { FetchQueryOptions, QueryClient, QueryKey } from '@tanstack/react-query';
import { isNotFound, notFound, redirect } from '@tanstack/react-router';
import { meQuery, teamsQuery, workspacesQuery } from '../api/queries.ts';
import { chooseWorkspace } from '../session/choose-workspace.ts';
import { readLastWorkspace, rememberWorkspace } from '../session/last-workspace.ts';
import { paths } from './paths.ts';

/** Context of every route's hooks. */
export interface RouterContext {
  svc: CoreClient;
  queryClient: QueryClient;
  /** Redirects to the sign-in page, which returns to `href`. */
  askToSignIn: (href: string) => void;
}

/** Requires a session and loads the shell's data. */
export async function requireSession({ svc, queryClient, askToSignIn }: RouterContext, href: string): Promise<void> {
  try {
    // first and alone, so that a missing session causes one refusal instead of three
    await queryClient.ensureQueryData(meQuery(svc));
    await Promise.all([
      queryClient.ensureQueryData(workspacesQuery(svc)),
      queryClient.ensureQueryData(teamsQuery(svc)),
    ]);
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    askToSignIn(href);
    await new Promise(() => undefined); // render nothing while leaving the console
  }
}

export async function openHome({ svc, queryClient }: RouterContext): Promise<never> {
  const [me, workspaces] = await Promise.all([
    queryClient.ensureQueryData(meQuery(svc)),
    queryClient.ensureQueryData(workspacesQuery(svc)),
  ]);
  const workspace = chooseWorkspace(workspaces, [readLastWorkspace(), me.workspace_uuid]);
  if (workspace === undefined) throw redirect({ to: paths.account });
  throw redirect({ to: paths.workspace, params: { workspace: workspace.uuid }, replace: true });
}

/**
 * Treats an inaccessible workspace as missing. For loaders, since the router shows a `notFound` of `beforeLoad` without
 * the shell.
 */
export async function requireWorkspace(context: RouterContext, uuid: string): Promise<void> {
  if ((await findWorkspace(context, uuid)) === undefined) throw notFound();
  rememberWorkspace(uuid);
}

async function findWorkspace({ svc, queryClient }: RouterContext, uuid: string): Promise<Workspace | undefined> {
  const query = workspacesQuery(svc);
  const find = (workspaces: readonly Workspace[]) => workspaces.find((each) => each.uuid === uuid);
  // A workspace missing from the cached list may be newer than it.
  return find(await queryClient.ensureQueryData(query)) ?? find(await refetch(queryClient, query));
}

/**
 * For layouts of one resource: an unknown one is `notFound`. Other failures are left to the page, which retries and
 * reports them.
 */
export async function requireResource(
  context: RouterContext,
  uuid: string,
  load: (workspace: Workspace) => Promise<void>,
): Promise<void> {
  const workspace = await findWorkspace(context, uuid);
  if (workspace === undefined) return; // the workspace layout reports it
  try {
    await load(workspace);
  } catch (error) {
    if (error instanceof NotFoundError) throw notFound();
    if (isNotFound(error)) throw error;
  }
}

export async function requireTeam({ svc, queryClient }: RouterContext, uuid: string): Promise<void> {
  const query = teamsQuery(svc);
  const isThere = (teams: readonly Team[]): boolean => teams.some((each) => each.uuid === uuid);
  if (!isThere(await queryClient.ensureQueryData(query)) && !isThere(await refetch(queryClient, query)))
    throw notFound();
}

/** Fetches regardless of the cache. */
export function refetch<Data, Key extends QueryKey>(
  queryClient: QueryClient,
  query: FetchQueryOptions<Data, Error, Data, Key>,
): Promise<Data> {
  return queryClient.fetchQuery({ ...query, staleTime: 0 });
}
