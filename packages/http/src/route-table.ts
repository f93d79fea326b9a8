/** A path segment in the tree. */
interface Node {
  readonly fixed: Map<string, Node>;
  /** The segment is or contains a parameter. */
  parameter: Node | null;
  /** `*`: the rest of the path. */
  readonly restMethods: Set<string>;
  readonly methods: Set<string>;
}

/**
 * Finds the methods of a path, for the `Allow` of a 405 (RFC 9110, section 15.5.6). The router only reports that a path
 * and method are unknown. This runs only then, so it may be slower.
 */
export class RouteTable {
  readonly #root = createNode();

  /** Adds a route; `path` is a pattern such as `/things/:id/parts/*`. */
  add(methods: string | readonly string[], path: string): void {
    let node = this.#root;
    const names = typeof methods === 'string' ? [methods] : methods;
    for (const segment of segmentsOf(path)) {
      if (segment === '*') {
        for (const name of names) node.restMethods.add(name.toUpperCase());
        return;
      }
      node = segment.includes(':') ? (node.parameter ??= createNode()) : findOrCreateChild(node, segment);
    }
    for (const name of names) node.methods.add(name.toUpperCase());
  }

  /** Returns the methods, sorted; empty if no route matches. `path` is percent-encoded, without the query. */
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

function findOrCreateChild(node: Node, segment: string): Node {
  const known = node.fixed.get(segment);
  if (known !== undefined) return known;
  const child = createNode();
  node.fixed.set(segment, child);
  return child;
}

function createNode(): Node {
  return { fixed: new Map(), parameter: null, restMethods: new Set(), methods: new Set() };
}
