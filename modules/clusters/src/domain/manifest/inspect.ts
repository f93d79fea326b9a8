import {
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  parseAllDocuments,
  type Document,
  type Node,
  type YAMLMap,
  type YAMLParseError,
} from 'yaml';

export const MANIFEST_LIMITS = {
  documents: 500,
  /** Nesting levels; real deployments have about 12. */
  depth: 64,
  /** Nodes after alias expansion, so that ten nested `&a [*b, *b]` count in full. */
  nodes: 200_000,
  /** Faults listed in an error; the rest are only counted. */
  toldFaults: 20,
} as const;

export type ManifestFinding =
  | { ok: true; documents: number }
  | { ok: false; code: 'INVALID_REQUEST' | 'MANIFEST_TOO_LARGE'; reason: string };

/**
 * Checks the text without building values: the parser does not check key uniqueness (quadratic) and nothing is
 * converted (exponential for nested complex keys). Takes linear time in the length of the text.
 */
export function inspectManifest(text: string): ManifestFinding {
  let documents: ReturnType<typeof parseAllDocuments>;
  try {
    documents = parseAllDocuments(text, { uniqueKeys: false, prettyErrors: false, logLevel: 'silent' });
  } catch {
    return invalid('is not valid YAML'); // the parser's stack overflows before ours does
  }
  if (!Array.isArray(documents)) return invalid('has no document');
  if (documents.length > MANIFEST_LIMITS.documents) {
    return tooLarge(`has more than ${MANIFEST_LIMITS.documents} documents`);
  }
  const faults: string[] = [];
  let objects = 0;
  for (const [index, document] of documents.entries()) {
    const finding = inspectDocument(document, index + 1, text);
    if (finding === null) continue;
    if (finding.ok) objects += 1;
    else if (finding.code === 'MANIFEST_TOO_LARGE') return finding;
    else faults.push(finding.reason);
  }
  if (faults.length > 0) return invalid(summarizeFaults(faults));
  return objects === 0 ? invalid('has no document') : { ok: true, documents: objects };
}

/** Null for an empty document. */
function inspectDocument({ errors, contents }: Document, number: number, text: string): ManifestFinding | null {
  const syntax = errors[0];
  if (syntax !== undefined) return invalid(`document ${number} is not YAML ${describePlace(syntax, text)}`);
  if (contents === null || (isScalar(contents) && contents.value === null)) return null;
  const oversize = measure(contents, number);
  if (oversize !== null) return oversize;
  const reason = inspectObject(contents);
  return reason === null ? { ok: true, documents: 1 } : invalid(`document ${number}: ${reason}`);
}

/** Reports all faults at once to save the author round trips. */
function summarizeFaults(faults: readonly string[]): string {
  const told = faults.slice(0, MANIFEST_LIMITS.toldFaults).join('; ');
  const more = faults.length - MANIFEST_LIMITS.toldFaults;
  return more > 0 ? `${told}; and ${more} more` : told;
}

/** Location and cause, without quoting the text: it may be a secret, and errors are stored. */
function describePlace({ pos, message }: YAMLParseError, text: string): string {
  const before = text.slice(0, pos[0]);
  const line = before.split('\n').length;
  const column = before.length - before.lastIndexOf('\n');
  // Replace the parser's own wording for a stack overflow.
  const why = message.includes('call stack') ? 'it nests too deeply' : /^[^:]*/.exec(message)?.[0].trim();
  return `at line ${line}, column ${column}: ${why ?? 'it cannot be read'}`;
}

/** Computes expanded sizes bottom-up, once per anchor: a YAML bomb is counted, never built. */
function measure(contents: unknown, number: number): ManifestFinding | null {
  const anchors = new Map<string, number>();
  const found: { tooDeep: boolean; repeatedKey: string | null } = { tooDeep: false, repeatedKey: null };
  const countNodes = (node: unknown, depth: number): number => {
    if (depth > MANIFEST_LIMITS.depth) {
      found.tooDeep = true;
      return 1;
    }
    let size = 1;
    if (isAlias(node)) return anchors.get(node.source) ?? 1;
    if (isPair(node)) size = countNodes(node.key, depth + 1) + countNodes(node.value, depth + 1);
    else if (isCollection(node))
      for (const item of node.items) size += countNodes(item, isMap(node) ? depth : depth + 1);
    if (isMap(node)) found.repeatedKey ??= findRepeatedKey(node);
    if (isCollection(node) || isScalar(node)) {
      const { anchor } = node;
      if (anchor !== undefined) anchors.set(anchor, size);
    }
    return size;
  };
  const size = countNodes(contents, 0);
  if (found.tooDeep) return tooLarge(`document ${number} nests deeper than ${MANIFEST_LIMITS.depth} levels`);
  if (found.repeatedKey !== null) {
    return invalid(`document ${number} has the key ${found.repeatedKey} twice in one mapping`);
  }
  return size > MANIFEST_LIMITS.nodes
    ? tooLarge(`document ${number} has more than ${MANIFEST_LIMITS.nodes} values`)
    : null;
}

function findRepeatedKey(map: YAMLMap): string | null {
  const seen = new Set<unknown>();
  for (const { key } of map.items) {
    if (!isScalar(key)) continue;
    if (seen.has(key.value)) return JSON.stringify(key.value).slice(0, 64);
    seen.add(key.value);
  }
  return null;
}

function inspectObject(contents: Node | null): string | null {
  if (!isMap(contents)) return 'must be a mapping';
  for (const pair of contents.items) {
    if (!isScalar(pair.key)) return 'has a key that is not a text';
  }
  const apiVersion = contents.get('apiVersion');
  const kind = contents.get('kind');
  if (typeof apiVersion !== 'string' || apiVersion === '') return 'apiVersion is missing';
  if (typeof kind !== 'string' || kind === '') return 'kind is missing';
  // The agent splits lists and checks their items.
  if (kind === 'List' || (kind.endsWith('List') && isSeq(contents.get('items')))) return null;
  const metadata = contents.get('metadata');
  if (!isMap(metadata)) return 'metadata is missing';
  const name = metadata.get('name');
  return typeof name === 'string' && name !== '' ? null : 'metadata.name is missing';
}

function invalid(reason: string): ManifestFinding {
  return { ok: false, code: 'INVALID_REQUEST', reason };
}

function tooLarge(reason: string): ManifestFinding {
  return { ok: false, code: 'MANIFEST_TOO_LARGE', reason };
}
