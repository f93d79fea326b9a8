import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router';

/**
 * A page below a layout; its script is loaded when it is opened. Path and search stand in the table of routes and not
 * in the page’s file, since links need them before that.
 */
export function pageRoute<
  TParent extends AnyRoute,
  const TPath extends string,
  TModule extends Record<string, unknown>,
  TSearch extends object,
>(
  parent: TParent,
  path: TPath,
  load: () => Promise<TModule>,
  component: keyof TModule & string,
  parseSearch: (search: Record<string, unknown>) => TSearch,
) {
  return createRoute({
    getParentRoute: () => parent,
    path,
    component: lazyRouteComponent<TModule, keyof TModule & string>(load, component),
    validateSearch: parseSearch,
  });
}

/** For pages whose URL has no search. */
export function noSearch(): Record<never, never> {
  return {};
}
