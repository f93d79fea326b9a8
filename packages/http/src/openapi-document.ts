import { STATUS_CODES } from 'node:http';
import { ERROR_SHAPES, type ErrorRenderer } from './renderers.ts';

/**
 * The fields of an OpenAPI 3.1 operation object that `completeDocument` reads or fills. An empty `security` list marks
 * a public route.
 */
export interface OpenApiOperation {
  operationId?: string;
  tags?: string[];
  security?: readonly Record<string, readonly string[]>[];
  responses?: Record<string, { description?: string; $ref?: string }>;
}

/** The parts of OpenAPI 3.1 used here. */
export interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string };
  tags?: { name: string }[];
  paths?: Record<string, Record<string, OpenApiOperation>>;
  components?: { schemas?: Record<string, unknown>; responses?: Record<string, unknown> };
}

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'] as const;

/**
 * Completes the document: operation ids, response descriptions, and errors in the shape of the path's family. Throws on
 * duplicate operation ids, since clients are generated from them.
 */
export function completeDocument(
  document: OpenApiDocument,
  rendererOfPath: (path: string) => ErrorRenderer,
): OpenApiDocument {
  const paths: NonNullable<OpenApiDocument['paths']> = {};
  const names = new Map<string, string>();
  const tags = new Set<string>();
  for (const path of Object.keys(document.paths ?? {}).toSorted()) {
    const operations: Record<string, OpenApiOperation> = {};
    for (const method of METHODS) {
      const operation = document.paths?.[path]?.[method];
      if (operation === undefined) continue;
      const name = operation.operationId ?? operationIdOf(method, path);
      const other = names.get(name);
      if (other !== undefined) throw new Error(`${method} ${path} and ${other} are both named ${name}`);
      names.set(name, `${method} ${path}`);
      for (const tag of operation.tags ?? []) tags.add(tag);
      const responses = describeResponses(operation, rendererOfPath(path));
      operations[method] = { operationId: name, ...operation, responses };
    }
    paths[path] = operations;
  }
  return {
    ...document,
    tags: [...tags].toSorted().map((name) => ({ name })),
    paths,
    components: describeErrors(document),
  };
}

/**
 * Derives an operation id: `get /api/containers/{id}/files` becomes `getContainersByIdFiles`, without common prefixes.
 */
export function operationIdOf(method: string, path: string): string {
  const words = path
    .split('/')
    .filter((segment) => segment !== '' && segment !== 'api' && segment !== 'v1')
    .map((segment) => (segment.startsWith('{') ? `by-${segment}` : segment));
  return `${method}-${words.join('-')}`
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word, index) => (index === 0 ? word : `${word.charAt(0).toUpperCase()}${word.slice(1)}`))
    .join('');
}

type Responses = NonNullable<OpenApiOperation['responses']>;

function describeResponses(operation: OpenApiOperation, render: ErrorRenderer): Responses {
  const responses: Responses = {};
  for (const [status, response] of Object.entries(operation.responses ?? {})) {
    const isUnsaid = response.description === undefined || response.description === 'Default Response';
    responses[status] = isUnsaid ? { ...response, description: STATUS_CODES[status] ?? 'An answer' } : response;
  }
  const shape = ERROR_SHAPES.find((each) => each.render === render);
  if (shape === undefined) return responses;
  const reference = { $ref: `#/components/responses/${shape.name}` };
  const isPublic = operation.security?.length === 0;
  return {
    ...responses,
    ...(isPublic ? {} : { 401: responses['401'] ?? reference, 403: responses['403'] ?? reference }),
    default: responses['default'] ?? reference,
  };
}

function describeErrors({ components }: OpenApiDocument): NonNullable<OpenApiDocument['components']> {
  const schemas: Record<string, unknown> = { ...components?.schemas };
  const responses: Record<string, unknown> = { ...components?.responses };
  for (const { name, schema } of ERROR_SHAPES) {
    schemas[name] = schema;
    responses[name] = {
      description: 'An error. `code` is stable; `message` is for people and may change.',
      headers: { 'X-Request-ID': { description: 'Identifies the request in the logs', schema: { type: 'string' } } },
      content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
    };
  }
  return { ...components, schemas: sortKeys(schemas), responses: sortKeys(responses) };
}

function sortKeys(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).toSorted(([left], [right]) => (left < right ? -1 : 1)));
}
