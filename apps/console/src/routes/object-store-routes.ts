import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { NotFoundPage } from '../pages/faults/not-found-page.tsx';
import { parseObjectsSearch } from '../pages/object-store/browser/objects-search.ts';
import { parseUsageSearch } from '../pages/object-store/usage/usage-search.ts';
import { parseCreateSearch } from './create-search.ts';
import { requireWorkspace } from './guards.ts';
import { paths } from './paths.ts';
import { shell } from './shell-route.tsx';

/** The pages are a script of their own, loaded when the first of them is opened. */
const pages = () => import('../pages/object-store/pages.ts');

const buckets = createRoute({
  getParentRoute: () => shell,
  path: paths.buckets,
  validateSearch: parseCreateSearch,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'BucketsPage'),
});

const deletedBuckets = createRoute({
  getParentRoute: () => shell,
  path: paths.deletedBuckets,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'DeletedBucketsPage'),
});

const bucket = createRoute({
  getParentRoute: () => shell,
  path: paths.bucket,
  validateSearch: parseObjectsSearch,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'ObjectsPage'),
});

const bucketLifecycle = createRoute({
  getParentRoute: () => shell,
  path: paths.bucketLifecycle,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'LifecyclePage'),
});

const bucketDomains = createRoute({
  getParentRoute: () => shell,
  path: paths.bucketDomains,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'DomainsPage'),
});

const usage = createRoute({
  getParentRoute: () => shell,
  path: paths.usage,
  validateSearch: parseUsageSearch,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'UsagePage'),
});

const bucketUsage = createRoute({
  getParentRoute: () => shell,
  path: paths.bucketUsage,
  validateSearch: parseUsageSearch,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'BucketUsagePage'),
});

const bucketSettings = createRoute({
  getParentRoute: () => shell,
  path: paths.bucketSettings,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'BucketSettingsPage'),
});

const accessKeys = createRoute({
  getParentRoute: () => shell,
  path: paths.accessKeys,
  validateSearch: parseCreateSearch,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'KeysPage'),
});

export const objectStoreRoutes = [
  buckets,
  deletedBuckets,
  bucket,
  bucketLifecycle,
  bucketDomains,
  usage,
  bucketUsage,
  bucketSettings,
  accessKeys,
] as const;
