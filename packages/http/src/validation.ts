import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import formatsModule from 'ajv-formats';
import type { FastifySchemaCompiler } from 'fastify';

// The package is CommonJS; under ESM, its function is on `default`.
const addFormats = formatsModule.default;

/** Functions that schemas were compiled to. Apps with the same routes may share them. */
export class CompiledSchemas {
  readonly bodies = new WeakMap<object, CompiledValidator>();
  /** Of queries, paths and headers. */
  readonly texts = new WeakMap<object, CompiledValidator>();
  readonly responses = new WeakMap<object, (data: unknown) => string>();
}

interface CompiledValidator {
  first?: ValidateFunction;
  all?: ValidateFunction;
}

/**
 * Bodies are strict: strings are never converted to numbers, and unknown fields are refused where the schema has
 * `additionalProperties: false`. Query, path and header values are text, so they are converted.
 */
export function createValidatorCompiler(schemas: CompiledSchemas): FastifySchemaCompiler<unknown> {
  const bodies = createPair({});
  const texts = createPair({ coerceTypes: 'array' });
  return ({ schema, httpPart }) => {
    const { first, all } = httpPart === 'body' ? bodies : texts;
    const known = httpPart === 'body' ? schemas.bodies : schemas.texts;
    const rules = schema as object; // untyped in Fastify; a route's schema is a JSON Schema
    const compiled = known.get(rules) ?? {};
    known.set(rules, compiled);
    return (data: unknown) => {
      // Compiled at the route's first request: compiling all at startup costs memory that most never use.
      const validate = (compiled.first ??= first.compile(rules));
      if (validate(data)) return { value: data };
      if (!isSmall(data)) return { error: new ValidationFailure(validate.errors ?? []) };
      const explain = (compiled.all ??= all.compile(rules));
      explain(data);
      return { error: new ValidationFailure(explain.errors ?? validate.errors ?? []) };
    };
  };
}

/**
 * Creates a validator that stops at the first error and one that reports all. A 1 MiB body can have a hundred thousand
 * errors, so only small bodies use the second.
 */
function createPair(options: Options): { first: Ajv; all: Ajv } {
  // Schemas are our own, so Ajv need not compile the schema of schemas to check them.
  const trusted: Options = { meta: false, validateSchema: false };
  const shared: Options = { ...trusted, removeAdditional: false, useDefaults: true, strict: false, ...options };
  const pair = { first: new Ajv({ ...shared, allErrors: false }), all: new Ajv({ ...shared, allErrors: true }) };
  addFormats(pair.first);
  addFormats(pair.all);
  return pair;
}

const MAX_EXPLAINED_VALUES = 1_000;

function isSmall(data: unknown): boolean {
  const open: unknown[] = [data];
  for (let seen = 0; open.length > 0; seen += 1) {
    if (seen + open.length > MAX_EXPLAINED_VALUES) return false;
    const value = open.pop();
    if (typeof value === 'object' && value !== null) open.push(...Object.values(value).slice(0, MAX_EXPLAINED_VALUES));
  }
  return true;
}

/** Carries Ajv errors to `fromFrameworkError` in the shape of Fastify's validation errors. */
class ValidationFailure extends Error {
  readonly validation: readonly ErrorObject[];
  constructor(errors: readonly ErrorObject[]) {
    super('validation failed');
    this.validation = errors;
  }
}
