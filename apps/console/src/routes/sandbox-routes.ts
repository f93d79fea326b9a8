import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { NotFoundPage } from '../pages/faults/not-found-page.tsx';
import { parseFilesSearch } from '../pages/sandboxes/files/files-search.ts';
import { parseSandboxesSearch } from '../pages/sandboxes/list/sandboxes-search.ts';
import { parseMetricsSearch } from '../pages/sandboxes/metrics/metrics-words.ts';
import { parseTerminalSearch } from '../pages/sandboxes/terminal/terminal-search.ts';
import { requireWorkspace } from './guards.ts';
import { paths } from './paths.ts';
import { shell } from './shell-route.tsx';

/** The pages are a script of their own, and the terminal another one: most visits need neither. */
const pages = () => import('../pages/sandboxes/pages.ts');
const terminal = () => import('../pages/sandboxes/terminal/terminal-page.tsx');

const sandboxes = createRoute({
  getParentRoute: () => shell,
  path: paths.sandboxes,
  validateSearch: parseSandboxesSearch,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'SandboxesPage'),
});

const snapshots = createRoute({
  getParentRoute: () => shell,
  path: paths.snapshots,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'AllSnapshotsPage'),
});

const sandbox = createRoute({
  getParentRoute: () => shell,
  path: paths.sandbox,
  validateSearch: parseTerminalSearch,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(terminal, 'TerminalPage'),
});

const sandboxFiles = createRoute({
  getParentRoute: () => shell,
  path: paths.sandboxFiles,
  validateSearch: parseFilesSearch,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'FilesPage'),
});

const sandboxMetrics = createRoute({
  getParentRoute: () => shell,
  path: paths.sandboxMetrics,
  validateSearch: parseMetricsSearch,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'MetricsPage'),
});

const sandboxSnapshots = createRoute({
  getParentRoute: () => shell,
  path: paths.sandboxSnapshots,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'SnapshotsPage'),
});

const sandboxPorts = createRoute({
  getParentRoute: () => shell,
  path: paths.sandboxPorts,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'PortsPage'),
});

const sandboxEvents = createRoute({
  getParentRoute: () => shell,
  path: paths.sandboxEvents,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'EventsPage'),
});

const sandboxSettings = createRoute({
  getParentRoute: () => shell,
  path: paths.sandboxSettings,
  loader: ({ context, params }) => requireWorkspace(context, params.workspace),
  notFoundComponent: NotFoundPage,
  component: lazyRouteComponent(pages, 'SandboxSettingsPage'),
});

export const sandboxRoutes = [
  sandboxes,
  snapshots,
  sandbox,
  sandboxFiles,
  sandboxMetrics,
  sandboxSnapshots,
  sandboxPorts,
  sandboxEvents,
  sandboxSettings,
] as const;
