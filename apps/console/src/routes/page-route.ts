import { createRoute, lazyRouteComponent, type AnyRoute } from '@tanstack/react-router';

/** A layout's URL, or one below it. */
type Below<TLayoutPath extends string> = TLayoutPath | `${TLayoutPath}/${string}`;

/** The rest of a URL below a layout's, as the router expects it; `/` for the layout's own URL. */
type PathBelow<TLayoutPath extends string, TPath extends string> = TPath extends TLayoutPath
  ? '/'
  : TPath extends `${TLayoutPath}/${infer TRest}`
    ? TRest
    : never;

/** Returns the rest of a URL below a layout's. */
export function pathBelow<TLayoutPath extends string, TPath extends Below<TLayoutPath>>(
  layoutPath: TLayoutPath,
  path: TPath,
): PathBelow<TLayoutPath, TPath> {
  const rest = path.slice(layoutPath.length + 1);
  return (rest === '' ? '/' : rest) as PathBelow<TLayoutPath, TPath>; // computed exactly as the type is
}

/**
 * Returns a factory of pages below a layout, each loaded on demand. Path and search are in the route table rather than
 * the page’s file, since links need them earlier.
 */
export function pagesBelow<TLayout extends AnyRoute, const TLayoutPath extends string>(
  layout: TLayout,
  layoutPath: TLayoutPath,
) {
  return <const TPath extends Below<TLayoutPath>, TModule extends Record<string, unknown>, TSearch extends object>(
    path: TPath,
    load: () => Promise<TModule>,
    component: keyof TModule & string,
    parseSearch: (search: Record<string, unknown>) => TSearch,
  ) =>
    createRoute({
      getParentRoute: () => layout,
      path: pathBelow(layoutPath, path),
      component: lazyRouteComponent<TModule, keyof TModule & string>(load, component),
      validateSearch: parseSearch,
    });
}

/** Parses the search of pages without search parameters. */
export function noSearch(): object {
  return {};
}
