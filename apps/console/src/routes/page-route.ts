import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router';

/**
 * A page below a layout, whose script is loaded on demand. Path and search are in the route table rather than the
 * page’s file, since links need them earlier.
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

/** Parses the search of pages without search parameters. */
export function noSearch(): object {
  return {};
}
