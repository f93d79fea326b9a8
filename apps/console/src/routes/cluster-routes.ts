import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { parseDeploymentsSearch } from '../pages/clusters/deployments/deployments-search.ts';
import { parseEventsSearch } from '../pages/clusters/events/events-search.ts';
import { parseObjectsSearch } from '../pages/clusters/objects/objects-search.ts';
import { parseHistorySearch } from '../pages/clusters/overview/history-search.ts';
import { NotFoundPage } from '../pages/faults/not-found-page.tsx';
import { parseCreateSearch } from './create-search.ts';
import { requireWorkspace } from './guards.ts';
import { paths } from './paths.ts';
import { shell } from './shell-route.tsx';

/** The pages are a script of their own, and those with an editor or a terminal other ones. */
const pages = () => import('../pages/clusters/pages.ts');
const deploy = () => import('../pages/clusters/deploy/deploy-page.tsx');
const podShell = () => import('../pages/clusters/pod/pod-shell-page.tsx');

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

const clusterNodes = createRoute({
  getParentRoute: () => shell,
  path: paths.clusterNodes,
  validateSearch: parseObjectsSearch,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'NodesPage'),
});

const clusterWorkloads = createRoute({
  getParentRoute: () => shell,
  path: paths.clusterWorkloads,
  validateSearch: parseObjectsSearch,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'WorkloadsPage'),
});

const clusterPods = createRoute({
  getParentRoute: () => shell,
  path: paths.clusterPods,
  validateSearch: parseObjectsSearch,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'PodsPage'),
});

const clusterPod = createRoute({
  getParentRoute: () => shell,
  path: paths.clusterPod,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'PodLogsPage'),
});

const clusterPodShell = createRoute({
  getParentRoute: () => shell,
  path: paths.clusterPodShell,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(podShell, 'PodShellPage'),
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
  clusterNodes,
  clusterWorkloads,
  clusterPods,
  clusterPod,
  clusterPodShell,
  clusterDeployments,
  clusterDeployment,
  clusterDeploy,
  clusterEvents,
  clusterSettings,
] as const;
