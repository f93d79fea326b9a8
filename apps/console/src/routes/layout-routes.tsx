import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { NotFoundPage } from '../pages/faults/not-found-page.tsx';
import { requireBucket, requireCluster, requireSandbox, requireTeam, requireWorkspace } from './guards.ts';
import { shell } from './shell-route.tsx';

/** Everything of one workspace. */
export const workspaceLayout = createRoute({
  getParentRoute: () => shell,
  path: '/w/$workspace',
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
});

const loadCluster = () => import('../layouts/cluster-layout.tsx');
export const clusterLayout = createRoute({
  getParentRoute: () => workspaceLayout,
  path: 'clusters/$cluster',
  loader: ({ context, params }) => requireCluster(context, params),
  notFoundComponent: lazyRouteComponent(loadCluster, 'MissingCluster'),
  component: lazyRouteComponent(loadCluster, 'ClusterLayout'),
});

const loadSandbox = () => import('../layouts/sandbox-layout.tsx');
export const sandboxLayout = createRoute({
  getParentRoute: () => workspaceLayout,
  path: 'sandboxes/$sandbox',
  loader: ({ context, params }) => requireSandbox(context, params),
  notFoundComponent: lazyRouteComponent(loadSandbox, 'MissingSandbox'),
  component: lazyRouteComponent(loadSandbox, 'SandboxLayout'),
});

const loadBucket = () => import('../layouts/bucket-layout.tsx');
export const bucketLayout = createRoute({
  getParentRoute: () => workspaceLayout,
  path: 'buckets/$bucket',
  loader: ({ context, params }) => requireBucket(context, params),
  notFoundComponent: lazyRouteComponent(loadBucket, 'MissingBucket'),
  component: lazyRouteComponent(loadBucket, 'BucketLayout'),
});

export const teamLayout = createRoute({
  getParentRoute: () => shell,
  path: '/teams/$team',
  loader: ({ context, params }) => requireTeam(context, params.team),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(() => import('../layouts/team-layout.tsx'), 'TeamLayout'),
});
