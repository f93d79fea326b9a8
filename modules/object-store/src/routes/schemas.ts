import { Type, type TSchema } from 'typebox';

/** The tag of every operation of the management API in the OpenAPI document. */
export const TAGS = ['object store'];

export const workspaceParams = Type.Object({ workspace_uuid: Type.String({ format: 'uuid' }) });

export const bucketParams = Type.Object({
  workspace_uuid: Type.String({ format: 'uuid' }),
  name: Type.String({ minLength: 1, maxLength: 63 }),
});

/** Members of a team reach its workspace only with this. */
const team = { team_uuid: Type.Optional(Type.String()) };

export const teamQuery = Type.Object(team);

/** A query with parameters of its own beside `team_uuid`. */
export function queryOf<Properties extends Record<string, TSchema>>(properties: Properties) {
  return Type.Object({ ...team, ...properties });
}

/** The contract's envelope around what an answer holds. */
export function envelopeOf<Data extends TSchema>(data: Data) {
  return Type.Object({ success: Type.Literal(true), message: Type.String(), data });
}

/** One schema with two types: unlike a union, it is written out without trying one after the other. */
export const nullableText = Type.Unsafe<string | null>({ type: ['string', 'null'] });
export const nullableInteger = Type.Unsafe<number | null>({ type: ['integer', 'null'] });
/** RFC 3339 in UTC with milliseconds. */
export const timestamp = Type.String({ format: 'date-time' });
export const nullableTimestamp = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' });

/** For bodies: null means the default. */
export function nullable<Shape extends TSchema>(shape: Shape) {
  return Type.Union([shape, Type.Null()]);
}

export const closed = { additionalProperties: false };
