/** The subset of JSON Schema used by the routes. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  patternProperties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}

interface Body {
  content?: Record<string, { schema?: Schema }>;
}

interface Operation {
  operationId?: string;
  summary?: string;
  parameters?: { name: string; in: string; required?: boolean; schema?: Schema }[];
  requestBody?: Body;
  responses?: Record<string, Body>;
}

export interface OpenApiDocument {
  paths: Record<string, Record<string, Operation>>;
}

/** Prefixes omitted from operation names. */
const STORE = '/api/v1/workspace/{workspace_uuid}/object-store';
const API = '/api';
const CLUSTERS = '/v1/clusters';
/** Routes of sandboxes; `/api/sandboxes` is an alias of `/api/containers`. */
const OF_SANDBOXES =
  /^\/api\/(containers|images|snapshots|secrets|webhooks|templates|volumes|volume-snapshots|events|ssh|sandbox-clusters|auth\/guest)(\/|$)/;
const HEADER = `/* Made by scripts/generate-types.ts from api/openapi.json; \`./svc openapi\` writes it anew. */
`;

/** Renders an interface per service with a member per operation: its query, JSON body and JSON response. */
export function renderTypes(document: OpenApiDocument): string {
  const store = renderInterface(document, 'ObjectStoreOperations', STORE, (path) => path.includes('/object-store'));
  const sandboxes = renderInterface(document, 'SandboxOperations', API, (path) => OF_SANDBOXES.test(path));
  const clusters = renderInterface(document, 'ClusterOperations', CLUSTERS, (path) => path.startsWith(CLUSTERS));
  return `${HEADER}\n${store}\n${sandboxes}\n${clusters}`;
}

function renderInterface(
  document: OpenApiDocument,
  name: string,
  prefix: string,
  takes: (path: string) => boolean,
): string {
  const members = Object.entries(document.paths)
    .filter(([path]) => takes(path))
    .flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })))
    .map(({ path, method, operation }) =>
      renderOperation(`${method.toUpperCase()} ${path.replace(prefix, '') || '/'}`, operation),
    );
  return `export interface ${name} {\n${members.join('\n')}\n}\n`;
}

function renderOperation(title: string, operation: Operation): string {
  const query = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
  const querySchema: Schema = {
    type: 'object',
    properties: Object.fromEntries(query.map(({ name, schema }) => [name, schema ?? {}])),
    required: query.filter(({ required }) => required === true).map(({ name }) => name),
    additionalProperties: false,
  };
  const answer = Object.entries(operation.responses ?? {}).find(([status]) => status.startsWith('2'))?.[1];
  const lines = [
    `  /** ${operation.summary ?? title} */`,
    `  '${title}': {`,
    `    query: ${renderSchema(querySchema, 2)};`,
    `    body: ${renderBody(operation.requestBody)};`,
    `    answer: ${renderBody(answer)};`,
    '  };',
  ];
  return lines.join('\n');
}

function renderBody(body: Body | undefined): string {
  const schema = body?.content?.['application/json']?.schema;
  return schema === undefined ? 'undefined' : renderSchema(schema, 2);
}

/** Renders a schema as a TypeScript type; `unknown` if it has no equivalent. */
export function renderSchema(schema: Schema, depth = 0): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)));
  const either = schema.anyOf ?? schema.oneOf;
  if (either !== undefined) return union(either.map((each) => renderSchema(each, depth)));
  if (schema.allOf !== undefined) return schema.allOf.map((each) => renderSchema(each, depth)).join(' & ');
  if (Array.isArray(schema.type)) {
    return union(schema.type.map((type) => renderSchema({ ...schema, type }, depth)));
  }
  switch (schema.type) {
    case 'string':
      return 'string';
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'null':
      return 'null';
    case 'array':
      return `(${renderSchema(schema.items ?? {}, depth)})[]`;
    case 'object':
      return renderObject(schema, depth);
    default:
      return 'unknown';
  }
}

function renderObject(schema: Schema, depth: number): string {
  const { properties = {}, required = [], additionalProperties, patternProperties } = schema;
  const indent = '  '.repeat(depth + 1);
  const lines = Object.entries(properties).flatMap(([name, property]) => [
    ...(property.description === undefined ? [] : [`${indent}/** ${property.description.replaceAll('*/', '* /')} */`]),
    `${indent}${JSON.stringify(name)}${required.includes(name) ? ': ' : '?: undefined | '}${renderSchema(property, depth + 1)};`,
  ]);
  const values =
    typeof additionalProperties === 'object' ? additionalProperties : Object.values(patternProperties ?? {})[0];
  if (lines.length === 0) {
    if (values !== undefined) return `Record<string, ${renderSchema(values, depth)}>`;
    return additionalProperties === false ? 'Record<string, never>' : 'Record<string, unknown>';
  }
  return `{\n${lines.join('\n')}\n${'  '.repeat(depth)}}`;
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ');
}
