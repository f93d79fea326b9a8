import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { NotFoundPage } from '../pages/faults/not-found-page.tsx';
import { requireTeam, requireWorkspace } from './guards.ts';
import { pathBelow } from './page-route.ts';
import { paths } from './paths.ts';
import { shell } from './shell-route.tsx';

/** Layout of all pages of a workspace. */
export const workspaceLayout = createRoute({
  getParentRoute: () => shell,
  path: paths.workspace,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
});

const importCluster = () => import('../layouts/cluster-layout.tsx');
export const clusterLayout = createRoute({
  getParentRoute: () => workspaceLayout,
  path: pathBelow(paths.workspace, paths.cluster),
  loader: async ({ context, params }) => (await importCluster()).loadCluster(context, params),
  notFoundComponent: lazyRouteComponent(importCluster, 'MissingCluster'),
  component: lazyRouteComponent(importCluster, 'ClusterLayout'),
});

const importSandbox = () => import('../layouts/sandbox-layout.tsx');
export const sandboxLayout = createRoute({
  getParentRoute: () => workspaceLayout,
  path: pathBelow(paths.workspace, paths.sandbox),
  loader: async ({ context, params }) => (await importSandbox()).loadSandbox(context, params),
  notFoundComponent: lazyRouteComponent(importSandbox, 'MissingSandbox'),
  component: lazyRouteComponent(importSandbox, 'SandboxLayout'),
});

const importBucket = () => import('../layouts/bucket-layout.tsx');
export const bucketLayout = createRoute({
  getParentRoute: () => workspaceLayout,
  path: pathBelow(paths.workspace, paths.bucket),
  loader: async ({ context, params }) => (await importBucket()).loadBucket(context, params),
  notFoundComponent: lazyRouteComponent(importBucket, 'MissingBucket'),
  component: lazyRouteComponent(importBucket, 'BucketLayout'),
});

export const teamLayout = createRoute({
  getParentRoute: () => shell,
  path: paths.teamMembers,
  loader: ({ context, params }) => requireTeam(context, params.team),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(() => import('../layouts/team-layout.tsx'), 'TeamLayout'),
});
