import { NotFoundError, UnauthorizedError, type CoreClient, type Team, type Workspace } from '@svc/sdk';
import type { FetchQueryOptions, QueryClient, QueryKey } from '@tanstack/react-query';
import { isNotFound, notFound, redirect } from '@tanstack/react-router';
import { meQuery, teamsQuery, workspacesQuery } from '../api/queries.ts';
import { chooseWorkspace } from '../session/choose-workspace.ts';
import { readLastWorkspace, rememberWorkspace } from '../session/last-workspace.ts';
import { paths } from './paths.ts';

/** What every route's hooks get. */
export interface RouterContext {
  svc: CoreClient;
  queryClient: QueryClient;
  /** Leads to the sign-in page, and from there back to `href`. */
  askToSignIn: (href: string) => void;
}

/** Lets only the signed-in pass, with all that the shell shows loaded. */
export async function requireSession({ svc, queryClient, askToSignIn }: RouterContext, href: string): Promise<void> {
  try {
    await queryClient.ensureQueryData(meQuery(svc)); // alone, so that the signed-out are refused once and not thrice
    await Promise.all([
      queryClient.ensureQueryData(workspacesQuery(svc)),
      queryClient.ensureQueryData(teamsQuery(svc)),
    ]);
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    askToSignIn(href);
    await new Promise(() => undefined); // the console is being left; until then nothing is shown
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
 * A workspace that the caller does not reach looks like one that does not exist. For loaders, since the router shows a
 * `notFound` of `beforeLoad` without the shell.
 */
export async function requireWorkspace(context: RouterContext, uuid: string): Promise<void> {
  if ((await findWorkspace(context, uuid)) === undefined) throw notFound();
  rememberWorkspace(uuid);
}

async function findWorkspace({ svc, queryClient }: RouterContext, uuid: string): Promise<Workspace | undefined> {
  const query = workspacesQuery(svc);
  const find = (workspaces: readonly Workspace[]) => workspaces.find((each) => each.uuid === uuid);
  // What is not in the list that was loaded may be newer than it.
  return find(await queryClient.ensureQueryData(query)) ?? find(await refetch(queryClient, query));
}

/**
 * For layouts of one resource: an unknown one is `notFound`. Other failures are left to the page, which asks again and
 * says what is wrong.
 */
export async function requireResource(
  context: RouterContext,
  uuid: string,
  load: (workspace: Workspace) => Promise<void>,
): Promise<void> {
  const workspace = await findWorkspace(context, uuid);
  if (workspace === undefined) return; // the layout of the workspace says so
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

/** Asks anew, whatever is cached. */
export function refetch<Data, Key extends QueryKey>(
  queryClient: QueryClient,
  query: FetchQueryOptions<Data, Error, Data, Key>,
): Promise<Data> {
  return queryClient.fetchQuery({ ...query, staleTime: 0 });
}
