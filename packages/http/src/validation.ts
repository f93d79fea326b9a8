import { Ajv, type ErrorObject } from 'ajv';
import formatsModule from 'ajv-formats';
import type { FastifySchemaCompiler } from 'fastify';

// The package is CommonJS; under ESM its function stands on `default`.
const addFormats = formatsModule.default;

/**
 * Bodies are taken literally: a string is never read as a number and an unknown field is refused where the schema says
 * `additionalProperties: false`. Query, path and headers are text by nature, so their values are converted.
 */
export function createValidatorCompiler(): FastifySchemaCompiler<unknown> {
  const strict = new Ajv({ allErrors: true, removeAdditional: false, useDefaults: true, strict: false });
  const textual = new Ajv({
    allErrors: true,
    removeAdditional: false,
    useDefaults: true,
    coerceTypes: 'array',
    strict: false,
  });
  addFormats(strict);
  addFormats(textual);
  return ({ schema, httpPart }) => {
    const validate = (httpPart === 'body' ? strict : textual).compile(schema as object);
    return (data: unknown) => {
      if (validate(data)) return { value: data };
      return { error: new ValidationFailure(validate.errors ?? []) };
    };
  };
}

/** Carries Ajv's findings to `fromFrameworkError` in the shape that Fastify's own validation errors have. */
class ValidationFailure extends Error {
  readonly validation: readonly ErrorObject[];
  constructor(errors: readonly ErrorObject[]) {
    super('validation failed');
    this.validation = errors;
  }
}
