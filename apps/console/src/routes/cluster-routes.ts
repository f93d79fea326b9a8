import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { parseDeploymentsSearch } from '../pages/clusters/deployments/deployments-search.ts';
import { parseEventsSearch } from '../pages/clusters/events/events-search.ts';
import { parseHistorySearch } from '../pages/clusters/overview/history-search.ts';
import { NotFoundPage } from '../pages/faults/not-found-page.tsx';
import { parseCreateSearch } from './create-search.ts';
import { requireWorkspace } from './guards.ts';
import { paths } from './paths.ts';
import { shell } from './shell-route.tsx';

/** The pages are a script of their own, and the one with an editor another one. */
const pages = () => import('../pages/clusters/pages.ts');
const deploy = () => import('../pages/clusters/deploy/deploy-page.tsx');

const clusters = createRoute({
  getParentRoute: () => shell,
  path: paths.clusters,
  validateSearch: parseCreateSearch,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'ClustersPage'),
});

const cluster = createRoute({
  getParentRoute: () => shell,
  path: paths.cluster,
  validateSearch: parseHistorySearch,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'ClusterOverviewPage'),
});

const clusterDeployments = createRoute({
  getParentRoute: () => shell,
  path: paths.clusterDeployments,
  validateSearch: parseDeploymentsSearch,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'DeploymentsPage'),
});

const clusterDeployment = createRoute({
  getParentRoute: () => shell,
  path: paths.clusterDeployment,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'DeploymentPage'),
});

const clusterDeploy = createRoute({
  getParentRoute: () => shell,
  path: paths.clusterDeploy,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(deploy, 'DeployPage'),
});

const clusterEvents = createRoute({
  getParentRoute: () => shell,
  path: paths.clusterEvents,
  validateSearch: parseEventsSearch,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'ClusterEventsPage'),
});

const clusterSettings = createRoute({
  getParentRoute: () => shell,
  path: paths.clusterSettings,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'ClusterSettingsPage'),
});

export const clusterRoutes = [
  clusters,
  cluster,
  clusterDeployments,
  clusterDeployment,
  clusterDeploy,
  clusterEvents,
  clusterSettings,
] as const;
