import type { AppError } from '@svc/errors';
import { isRecord, type KubeObject } from '@svc/kube';
import { isCollection, parseAllDocuments, visit, type Document, type ScalarTag } from 'yaml';
import { agentErrors } from '../errors.ts';
import type { Faults } from './faults.ts';

/** One object of a manifest and its position: `manifest[2]`. */
export interface ManifestObject {
  object: KubeObject;
  field: string;
}

export interface ManifestLimits {
  maxDocuments: number;
  maxObjects: number;
}

const MAX_ALIASES = 1000;
const MAX_DEPTH = 100;
const NAME = /^[A-Za-z0-9]([A-Za-z0-9.:_-]*[A-Za-z0-9])?$/;

/**
 * Kubernetes reads YAML 1.1: `0644` is a file mode and `yes` a boolean. Parsing otherwise would deploy different
 * values.
 */
const OCTAL: ScalarTag = {
  identify: () => false,
  default: true,
  tag: 'tag:yaml.org,2002:int',
  test: /^[-+]?0[0-7]+$/,
  resolve: (text) => Number.parseInt(text, 8),
};
const OLD_BOOLEAN: ScalarTag = {
  identify: () => false,
  default: true,
  tag: 'tag:yaml.org,2002:bool',
  test: /^(?:[Yy]es|YES|[Nn]o|NO|[Oo]n|ON|[Oo]ff|OFF)$/,
  resolve: (text) => /^(yes|on)$/i.test(text),
};

/** All objects of all documents. Invalid ones are added to the faults. */
export function parseManifest(text: string, limits: ManifestLimits, faults: Faults): ManifestObject[] {
  const documents = readDocuments(text, limits.maxDocuments);
  const objects: ManifestObject[] = [];
  for (const [index, document] of documents.entries()) {
    const field = `manifest[${index}]`;
    // Empty documents, as between two separators, are skipped.
    collectObjects(
      faults.try(() => parseValue(document, field)),
      field,
      objects,
      faults,
    );
  }
  if (objects.length === 0) {
    faults.assertNone();
    throw invalid('manifest', 'has no objects');
  }
  if (objects.length > limits.maxObjects) throw invalid('manifest', `has more than ${limits.maxObjects} objects`);
  return objects;
}

function readDocuments(text: string, maxDocuments: number): Document[] {
  let documents: Document[];
  try {
    const parsed = parseAllDocuments(text, {
      merge: true,
      uniqueKeys: false, // its own check is quadratic; ours follows
      prettyErrors: false,
      customTags: (tags) => [OCTAL, OLD_BOOLEAN, ...tags],
    });
    documents = Array.isArray(parsed) ? parsed : [];
  } catch (cause) {
    throw agentErrors.INVALID_REQUEST({
      details: { field: 'manifest', reason: 'the manifest nests too deeply' },
      cause,
    });
  }
  if (documents.length > maxDocuments) throw invalid('manifest', `has more than ${maxDocuments} documents`);
  return documents;
}

/**
 * Refuses what a small text can abuse: alias expansion, deep nesting, and duplicate keys.
 */
function assertHarmless(document: Document, field: string): void {
  let aliases = 0;
  visit(document, {
    Alias: () => {
      aliases += 1;
      if (aliases > MAX_ALIASES) throw invalid(field, `has more than ${MAX_ALIASES} aliases`);
    },
    Map: (_key, map, path) => {
      if (path.length > MAX_DEPTH) throw invalid(field, `nests deeper than ${MAX_DEPTH} levels`);
      const names = new Set<string>();
      for (const { key } of map.items) {
        if (isCollection(key)) throw invalid(field, 'has a key that is a map or a list; keys must be strings');
        const name = String(key);
        if (name !== '<<' && names.has(name)) throw invalid(field, `has the key ${name.slice(0, 100)} twice`);
        names.add(name);
      }
    },
    Seq: (_key, _sequence, path) => {
      if (path.length > MAX_DEPTH) throw invalid(field, `nests deeper than ${MAX_DEPTH} levels`);
    },
  });
}

function parseValue(document: Document, field: string): unknown {
  const fault = document.errors[0];
  if (fault !== undefined) throw invalid(field, `is not valid YAML: ${fault.message}`);
  assertHarmless(document, field);
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown;
  } catch (error) {
    throw invalid(field, `cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function collectObjects(value: unknown, field: string, objects: ManifestObject[], faults: Faults): void {
  if (value === null || value === undefined) return;
  if (!isRecord(value)) return faults.add(invalid(field, 'is not an object'));
  const items = itemsOf(value);
  if (items === null) {
    const object = checkedObject(value, field, faults);
    if (object !== null) objects.push({ object, field });
    return;
  }
  for (const [index, item] of items.entries()) collectObjects(item, `${field}.items[${index}]`, objects, faults);
}

/** Items of a `List` or of a typed list such as `ConfigMapList`, whose items may omit their kind; otherwise null. */
function itemsOf({ apiVersion, kind, items, metadata }: Record<string, unknown>): unknown[] | null {
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return null;
  if (kind === 'List') return items;
  if (isRecord(metadata) && metadata['name'] !== undefined) return null; // an object whose kind ends in List
  const missing = { apiVersion, kind: kind.slice(0, -'List'.length) };
  return items.map((item: unknown) => (isRecord(item) ? { ...missing, ...item } : item));
}

/** Null after adding its faults. */
function checkedObject(value: Record<string, unknown>, field: string, faults: Faults): KubeObject | null {
  let isSound = true;
  const refuse = (path: string, reason: string): void => {
    isSound = false;
    faults.add(invalid(`${field}.${path}`, reason));
  };
  const { apiVersion, kind, metadata } = value;
  if (typeof apiVersion !== 'string' || apiVersion === '') refuse('apiVersion', 'must be a string');
  if (typeof kind !== 'string' || kind === '') refuse('kind', 'must be a string');
  if (isRecord(metadata)) checkMetadata(metadata, refuse);
  else refuse('metadata', 'must be a map');
  return isSound ? (value as KubeObject) : null; // the fields that the type names were checked above
}

type Refuse = (path: string, reason: string) => void;

function checkMetadata(metadata: Record<string, unknown>, refuse: Refuse): void {
  const { name, namespace } = metadata;
  if (metadata['generateName'] !== undefined) {
    refuse('metadata.generateName', 'is not supported: a deploy must be able to find its objects again');
  } else if (typeof name !== 'string' || name.length > 253 || !NAME.test(name)) {
    refuse('metadata.name', 'must be a valid object name');
  }
  if (namespace !== undefined && (typeof namespace !== 'string' || !NAME.test(namespace))) {
    refuse('metadata.namespace', 'must be a valid namespace name');
  }
  for (const map of ['labels', 'annotations']) checkTexts(metadata[map], `metadata.${map}`, refuse);
}

function checkTexts(value: unknown, path: string, refuse: Refuse): void {
  if (value === undefined || value === null) return;
  if (!isRecord(value)) return refuse(path, 'must be a map');
  for (const [name, each] of Object.entries(value)) {
    if (typeof each !== 'string') refuse(`${path}.${name.slice(0, 200)}`, 'must be a text; put it in quotes');
  }
}

function invalid(field: string, reason: string): AppError {
  return agentErrors.INVALID_REQUEST({ details: { field, reason: `${field} ${reason}` } });
}
