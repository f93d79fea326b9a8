import type { KubeObject } from '@svc/kube';
import { parseAllDocuments, visit, type Document, type ScalarTag } from 'yaml';
import { agentErrors } from '../errors.ts';

/** One object of a manifest and where it stands in it: `manifest[2]`. */
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

/** Kubernetes reads YAML 1.1: `0644` is a file mode and `yes` a boolean. Anything else would deploy something else. */
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

/** All objects of all documents, or INVALID_REQUEST with the first document that is wrong and why. */
export function parseManifest(text: string, limits: ManifestLimits): ManifestObject[] {
  const documents = readDocuments(text, limits.maxDocuments);
  const objects = documents.flatMap(({ value, field }) => objectsOf(value, field));
  if (objects.length === 0) throw invalid('manifest', 'holds no object');
  if (objects.length > limits.maxObjects) throw invalid('manifest', `holds more than ${limits.maxObjects} objects`);
  return objects;
}

function readDocuments(text: string, maxDocuments: number): { value: unknown; field: string }[] {
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
  return documents.map((document, index) => {
    const field = `manifest[${index}]`;
    const fault = document.errors[0];
    if (fault !== undefined) throw invalid(field, `is not valid YAML: ${fault.message}`);
    assertHarmless(document, field);
    return { value: valueOf(document, field), field };
  });
}

/** Bounds that a small text can break: aliases that multiply, depth, and a key given twice, of which one would be lost. */
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

function valueOf(document: Document, field: string): unknown {
  try {
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    throw invalid(field, `cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function objectsOf(value: unknown, field: string): ManifestObject[] {
  if (value === null || value === undefined) return []; // an empty document, as between two separators
  if (!isFields(value)) throw invalid(field, 'is not an object');
  if (value['kind'] === 'List' && Array.isArray(value['items'])) {
    return value['items'].flatMap((item: unknown, index) => objectsOf(item, `${field}.items[${index}]`));
  }
  return [{ object: checkedObject(value, field), field }];
}

function checkedObject(value: Record<string, unknown>, field: string): KubeObject {
  const { apiVersion, kind, metadata } = value;
  if (typeof apiVersion !== 'string' || apiVersion === '') throw invalid(`${field}.apiVersion`, 'must be a text');
  if (typeof kind !== 'string' || kind === '') throw invalid(`${field}.kind`, 'must be a text');
  if (!isFields(metadata)) throw invalid(`${field}.metadata`, 'must be a map');
  const { name, namespace } = metadata;
  if (metadata['generateName'] !== undefined) {
    throw invalid(`${field}.metadata.generateName`, 'has no place here: a deploy must find its objects again');
  }
  if (typeof name !== 'string' || name.length > 253 || !NAME.test(name)) {
    throw invalid(`${field}.metadata.name`, 'must be a name of an object');
  }
  if (namespace !== undefined && (typeof namespace !== 'string' || !NAME.test(namespace))) {
    throw invalid(`${field}.metadata.namespace`, 'must be a name of a namespace');
  }
  for (const map of ['labels', 'annotations']) assertTexts(metadata[map], `${field}.metadata.${map}`);
  return value as KubeObject; // the fields that the type names were looked at above
}

function assertTexts(value: unknown, field: string): void {
  if (value === undefined || value === null) return;
  if (!isFields(value)) throw invalid(field, 'must be a map');
  for (const [name, each] of Object.entries(value)) {
    if (typeof each !== 'string') throw invalid(`${field}.${name}`, 'must be a text; put it in quotes');
  }
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(field: string, reason: string): Error {
  return agentErrors.INVALID_REQUEST({ details: { field, reason: `${field} ${reason}` } });
}
