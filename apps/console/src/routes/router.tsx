import { createRoute, createRouter } from '@tanstack/react-router';
import { AccountPage } from '../pages/account/account-page.tsx';
import { TokensPage } from '../pages/account/tokens-page.tsx';
import { AuditPage } from '../pages/audit/audit-page.tsx';
import { parseAuditSearch } from '../pages/audit/audit-search.ts';
import { InvitationPage } from '../pages/entrance/invitation-page.tsx';
import { SetPasswordPage } from '../pages/entrance/set-password-page.tsx';
import { SignInPage } from '../pages/entrance/sign-in-page.tsx';
import { parseSignInSearch } from '../pages/entrance/sign-in-search.ts';
import { ErrorPage } from '../pages/faults/error-page.tsx';
import { NotFoundPage } from '../pages/faults/not-found-page.tsx';
import { OverviewPage } from '../pages/overview/overview-page.tsx';
import { InvitationsPage } from '../pages/teams/invitations-page.tsx';
import { MembersPage } from '../pages/teams/members-page.tsx';
import { TeamSettingsPage } from '../pages/teams/team-settings-page.tsx';
import { TeamsPage } from '../pages/teams/teams-page.tsx';
import { WorkspaceSettingsPage } from '../pages/workspace/workspace-settings-page.tsx';
import { parseCreateSearch } from './create-search.ts';
import {
  currentUser,
  openHome,
  requireTeam,
  requireWorkspace,
  skipWhenSignedIn,
  type RouterContext,
} from './guards.ts';
import { clusterRoutes } from './cluster-routes.ts';
import { objectStoreRoutes } from './object-store-routes.ts';
import { paths } from './paths.ts';
import { sandboxRoutes } from './sandbox-routes.ts';
import { root, shell } from './shell-route.tsx';

const signIn = createRoute({
  getParentRoute: () => root,
  path: paths.signIn,
  validateSearch: parseSignInSearch,
  beforeLoad: ({ context, search }) => skipWhenSignedIn(context, search.next),
  component: SignInPage,
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: paths.invitation,
  loader: ({ context }) => currentUser(context),
  component: InvitationPage,
});

const setPassword = createRoute({
  getParentRoute: () => root,
  path: paths.setPassword,
  component: SetPasswordPage,
});

const home = createRoute({
  getParentRoute: () => shell,
  path: paths.home,
  beforeLoad: ({ context }) => openHome(context),
});

const workspace = createRoute({
  getParentRoute: () => shell,
  path: paths.workspace,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: OverviewPage,
});

const audit = createRoute({
  getParentRoute: () => shell,
  path: paths.audit,
  validateSearch: parseAuditSearch,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: AuditPage,
});

const workspaceSettings = createRoute({
  getParentRoute: () => shell,
  path: paths.workspaceSettings,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: WorkspaceSettingsPage,
});

const teams = createRoute({ getParentRoute: () => shell, path: paths.teams, component: TeamsPage });

const teamMembers = createRoute({
  getParentRoute: () => shell,
  path: paths.teamMembers,
  loader: ({ context, params }) => requireTeam(context, params.team),
  notFoundComponent: NotFoundPage,
  component: MembersPage,
});

const teamInvitations = createRoute({
  getParentRoute: () => shell,
  path: paths.teamInvitations,
  loader: ({ context, params }) => requireTeam(context, params.team),
  notFoundComponent: NotFoundPage,
  component: InvitationsPage,
});

const teamSettings = createRoute({
  getParentRoute: () => shell,
  path: paths.teamSettings,
  loader: ({ context, params }) => requireTeam(context, params.team),
  notFoundComponent: NotFoundPage,
  component: TeamSettingsPage,
});

const account = createRoute({ getParentRoute: () => shell, path: paths.account, component: AccountPage });
const tokens = createRoute({
  getParentRoute: () => shell,
  path: paths.tokens,
  validateSearch: parseCreateSearch,
  component: TokensPage,
});
const elsewhere = createRoute({ getParentRoute: () => shell, path: '$', component: NotFoundPage });

const routeTree = root.addChildren([
  signIn,
  invitation,
  setPassword,
  shell.addChildren([
    home,
    workspace,
    audit,
    workspaceSettings,
    teams,
    teamMembers,
    teamInvitations,
    teamSettings,
    account,
    tokens,
    ...clusterRoutes,
    ...objectStoreRoutes,
    ...sandboxRoutes,
    elsewhere,
  ]),
]);

export function createConsoleRouter(context: RouterContext) {
  return createRouter({
    routeTree,
    context,
    defaultPreload: false,
    defaultPendingMs: 200,
    defaultErrorComponent: ErrorPage,
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
