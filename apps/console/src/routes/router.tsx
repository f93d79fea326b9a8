import { createRoute, createRouter } from '@tanstack/react-router';
import { ErrorPage } from '../pages/faults/error-page.tsx';
import { NotFoundPage } from '../pages/faults/not-found-page.tsx';
import { openHome, type RouterContext } from './guards.ts';
import { bucketLayout, clusterLayout, sandboxLayout, teamLayout, workspaceLayout } from './layout-routes.tsx';
import { accountPages, bucketPages, clusterPages, sandboxPages, teamPages, workspacePages } from './pages.ts';
import { paths } from './paths.ts';
import { root, shell } from './shell-route.tsx';

const home = createRoute({
  getParentRoute: () => shell,
  path: paths.home,
  beforeLoad: ({ context }) => openHome(context),
});

const elsewhere = createRoute({ getParentRoute: () => shell, path: '$', component: NotFoundPage });

const routeTree = root.addChildren([
  shell.addChildren([
    home,
    ...accountPages,
    teamLayout.addChildren(teamPages),
    workspaceLayout.addChildren([
      ...workspacePages,
      bucketLayout.addChildren(bucketPages),
      sandboxLayout.addChildren(sandboxPages),
      clusterLayout.addChildren(clusterPages),
    ]),
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
