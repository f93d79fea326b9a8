import { isAlias, isMap, isScalar, LineCounter, parseDocument, type Document, type Node } from 'yaml';
import { isSection, type SchemaNode } from './config-key.ts';
import type { Assignment, ConfigFault, Origin } from './fault.ts';
import { nearest } from './nearest.ts';

const MAX_FILE_BYTES = 1024 * 1024;

/** The values and faults of one source. */
export interface SourceResult {
  /** By dotted path. */
  readonly assignments: ReadonlyMap<string, Assignment>;
  readonly faults: readonly ConfigFault[];
}

interface Reading {
  readonly document: Document;
  readonly originOf: (node: unknown) => Origin;
  readonly assignments: Map<string, Assignment>;
  readonly faults: ConfigFault[];
  readonly allPaths: readonly string[];
}

/** Reads YAML 1.2 according to the schema; records file, line and column of every value and fault. */
export function readYaml(file: string, text: string, root: SchemaNode, allPaths: readonly string[]): SourceResult {
  const lines = new LineCounter();
  const whole: Origin = { source: 'yaml', where: file };
  if (Buffer.byteLength(text) > MAX_FILE_BYTES) {
    const message = `the file is larger than ${MAX_FILE_BYTES} bytes`;
    return { assignments: new Map(), faults: [{ path: '', message, origin: whole }] };
  }
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false });
  const at = (offset: number): Origin => {
    const { line, col } = lines.linePos(offset);
    return { source: 'yaml', where: `${file}:${line}:${col}` };
  };
  const originOf = (node: unknown): Origin => {
    const offset = (node as Node | null)?.range?.[0]; // null if a key has no value
    return offset === undefined ? whole : at(offset);
  };
  if (document.errors.length > 0) {
    const faults = document.errors.map((error) => {
      return { path: '', message: `not valid YAML: ${error.message}`, origin: at(error.pos[0]) };
    });
    return { assignments: new Map(), faults };
  }
  const reading: Reading = { document, originOf, assignments: new Map(), faults: [], allPaths };
  readSection(reading, document.contents, root, []);
  return reading;
}

function readSection(reading: Reading, node: unknown, schema: SchemaNode, segments: readonly string[]): void {
  if (node === null || (isScalar(node) && node.value === null)) return; // `http:` without content
  if (!isMap(node)) {
    const message = 'must be a section with keys';
    reading.faults.push({ path: segments.join('.'), message, origin: reading.originOf(node) });
    return;
  }
  for (const pair of node.items) {
    const name = isScalar(pair.key) ? String(pair.key.value) : String(pair.key);
    const path = [...segments, name];
    const child = Object.hasOwn(schema.properties ?? {}, name) ? schema.properties?.[name] : undefined;
    if (child === undefined) {
      reading.faults.push(unknownKey(path, schema, reading.allPaths, reading.originOf(pair.key)));
    } else if (isSection(child)) {
      readSection(reading, pair.value, child, path);
    } else {
      readValue(reading, pair.value, path.join('.'));
    }
  }
}

function readValue(reading: Reading, node: unknown, path: string): void {
  const origin = reading.originOf(node);
  // `port:` without a value means not set
  if (node === null || (isScalar(node) && node.value === null && node.source === '')) return;
  if (isAlias(node)) {
    reading.faults.push({ path, message: 'must be written out: aliases are not supported', origin });
    return;
  }
  try {
    const value: unknown = (node as Node).toJS(reading.document, { maxAliasCount: 0 });
    reading.assignments.set(path, { value, origin });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    reading.faults.push({ path, message: `cannot be read: ${reason}`, origin });
  }
}

/** Suggests the nearest key of the same section, or else the path of a key with this name elsewhere. */
export function unknownKey(
  path: readonly string[],
  section: SchemaNode,
  allPaths: readonly string[],
  origin: Origin | null,
): ConfigFault {
  const name = path.at(-1) ?? '';
  const sibling = nearest(name, Object.keys(section.properties ?? {}));
  const elsewhere = allPaths.find((candidate) => candidate.split('.').at(-1) === name);
  const meant = sibling === null ? elsewhere : [...path.slice(0, -1), sibling].join('.');
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  return { path: path.join('.'), message: `is not a known key${hint}`, origin };
}
