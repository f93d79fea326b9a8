import fastJson from 'fast-json-stringify';
import type { FastifySerializerCompiler } from 'fastify';

/** Compiles a route's serializer at its first response, for the same reason as its validator. */
export function createSerializerCompiler(): FastifySerializerCompiler<unknown> {
  return ({ schema }) => {
    let serialize: ((data: unknown) => string) | undefined;
    return (data: unknown) => {
      serialize ??= fastJson(schema as fastJson.Schema); // untyped in Fastify; a route's schema is a JSON Schema
      return serialize(data);
    };
  };
}
