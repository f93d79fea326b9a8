import { Type, type TSchema } from 'typebox';

/** OpenAPI tag of every operation of the management API. */
export const TAGS = ['object store'];

export const workspaceParams = Type.Object({ workspace_uuid: Type.String({ format: 'uuid' }) });

export const bucketParams = Type.Object({
  workspace_uuid: Type.String({ format: 'uuid' }),
  name: Type.String({ minLength: 1, maxLength: 63 }),
});

/** Required for members of a team to reach its workspace. */
const team = { team_uuid: Type.Optional(Type.String()) };

export const teamQuery = Type.Object(team);

/** A query with its own parameters and `team_uuid`. */
export function createQuerySchema<Properties extends Record<string, TSchema>>(properties: Properties) {
  return Type.Object({ ...team, ...properties });
}

/** Wraps a response's data in the contract's envelope. */
export function createEnvelopeSchema<Data extends TSchema>(data: Data) {
  return Type.Object({ success: Type.Literal(true), message: Type.String(), data });
}

/** One schema with two types. It serializes faster than a union, which tries its members in turn. */
export const nullableText = Type.Unsafe<string | null>({ type: ['string', 'null'] });
export const nullableInteger = Type.Unsafe<number | null>({ type: ['integer', 'null'] });
/** RFC 3339 in UTC with milliseconds. */
export const timestamp = Type.String({ format: 'date-time' });
export const nullableTimestamp = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });

export const closed = { additionalProperties: false };
