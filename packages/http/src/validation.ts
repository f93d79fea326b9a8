import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import formatsModule from 'ajv-formats';
import type { FastifySchemaCompiler } from 'fastify';

// The package is CommonJS; under ESM its function stands on `default`.
const addFormats = formatsModule.default;

/**
 * Bodies are taken literally: a string is never read as a number and an unknown field is refused where the schema says
 * `additionalProperties: false`. Query, path and headers are text by nature, so their values are converted.
 */
export function createValidatorCompiler(): FastifySchemaCompiler<unknown> {
  const bodies = createPair({});
  const texts = createPair({ coerceTypes: 'array' });
  return ({ schema, httpPart }) => {
    const { first, all } = httpPart === 'body' ? bodies : texts;
    let validate: ValidateFunction | undefined;
    let explain: ValidateFunction | undefined;
    return (data: unknown) => {
      // On the first request of a route, not at start: compiling all of them costs memory that most never use.
      validate ??= first.compile(schema as object); // Fastify types it by nothing; a route's schema is a JSON Schema
      if (validate(data)) return { value: data };
      if (!isSmall(data)) return { error: new ValidationFailure(validate.errors ?? []) };
      explain ??= all.compile(schema as object);
      explain(data);
      return { error: new ValidationFailure(explain.errors ?? validate.errors ?? []) };
    };
  };
}

/**
 * One that stops at the first fault and one that tells them all. A body of a megabyte can have a hundred thousand
 * faults, so the second is asked only about small ones.
 */
function createPair(options: Options): { first: Ajv; all: Ajv } {
  const shared: Options = { removeAdditional: false, useDefaults: true, strict: false, ...options };
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

/** Carries Ajv's findings to `fromFrameworkError` in the shape that Fastify's own validation errors have. */
class ValidationFailure extends Error {
  readonly validation: readonly ErrorObject[];
  constructor(errors: readonly ErrorObject[]) {
    super('validation failed');
    this.validation = errors;
  }
}
