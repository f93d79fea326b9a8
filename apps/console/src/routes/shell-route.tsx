import { createRootRouteWithContext, createRoute, Outlet } from '@tanstack/react-router';
import { ErrorPage } from '../pages/faults/error-page.tsx';
import { StandaloneNotFoundPage } from '../pages/faults/not-found-page.tsx';
import { Shell } from '../shell/shell.tsx';
import { ShellSkeleton } from '../shell/shell-skeleton.tsx';
import { requireSession, type RouterContext } from './guards.ts';

export const root = createRootRouteWithContext<RouterContext>()({
  component: Outlet,
  errorComponent: ErrorPage,
  notFoundComponent: StandaloneNotFoundPage,
});

/** Surrounds every page for signed-in users. */
export const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  beforeLoad: ({ context, location }) => requireSession(context, location.href),
  component: Shell,
  pendingComponent: ShellSkeleton,
});
