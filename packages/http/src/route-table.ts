/** What the router holds at one path segment. */
interface Node {
  readonly fixed: Map<string, Node>;
  /** The segment is a parameter, or has one in it. */
  parameter: Node | null;
  /** `*`: all the rest of the path. */
  readonly restMethods: Set<string>;
  readonly methods: Set<string>;
}

/**
 * Which methods a path answers, for the `Allow` of a 405 (RFC 9110, section 15.5.6). The router itself only says that a
 * path and method are unknown; this is asked after that, so it may be slower, but it is never asked for a known route.
 */
export class RouteTable {
  readonly #root = createNode();

  /** `path` as it is registered: `/things/:id/parts/*`. */
  add(methods: string | readonly string[], path: string): void {
    let node = this.#root;
    const names = typeof methods === 'string' ? [methods] : methods;
    for (const segment of segmentsOf(path)) {
      if (segment === '*') {
        for (const name of names) node.restMethods.add(name.toUpperCase());
        return;
      }
      node = segment.includes(':') ? (node.parameter ??= createNode()) : childOf(node, segment);
    }
    for (const name of names) node.methods.add(name.toUpperCase());
  }

  /** Sorted; empty when no route has this path. `path` is percent-encoded, without its query. */
  methodsOf(path: string): string[] {
    const found = new Set<string>();
    collect(this.#root, segmentsOf(path), 0, found);
    return [...found].toSorted();
  }
}

function collect(node: Node, segments: readonly string[], index: number, found: Set<string>): void {
  const segment = segments[index];
  for (const method of node.restMethods) found.add(method);
  if (segment === undefined) {
    for (const method of node.methods) found.add(method);
    return;
  }
  const fixed = node.fixed.get(segment);
  if (fixed !== undefined) collect(fixed, segments, index + 1, found);
  if (node.parameter !== null) collect(node.parameter, segments, index + 1, found);
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

function childOf(node: Node, segment: string): Node {
  const known = node.fixed.get(segment);
  if (known !== undefined) return known;
  const child = createNode();
  node.fixed.set(segment, child);
  return child;
}

function createNode(): Node {
  return { fixed: new Map(), parameter: null, restMethods: new Set(), methods: new Set() };
}
