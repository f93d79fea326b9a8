import { nullable } from '@svc/http';
import { type TSchema, Type } from 'typebox';
import { MAX_PAGE_SIZE } from '../domain/paging.ts';

/** A display name: not blank, no control characters. */
export const nameSchema = Type.String({ minLength: 1, maxLength: 100, pattern: '^(?=.*\\S)[^\\p{Cc}]+$' });
export const emailSchema = Type.String({ minLength: 3, maxLength: 254 });
export const passwordSchema = Type.String({ minLength: 1, maxLength: 1024 });
/** Ids and UUIDs in the path. An impossible id is a 404 like any other missing one. */
export const idSchema = Type.String({ minLength: 1, maxLength: 100 });
export const roleSchema = Type.Union([Type.Literal('admin'), Type.Literal('member'), Type.Literal('guest')]);
export const scopeSchema = Type.Union([Type.Literal('read'), Type.Literal('write'), Type.Literal('admin')]);
export const timestampSchema = Type.String({ format: 'date-time' });

export const expirySchema = Type.Optional(nullable(timestampSchema));

const pageProperties = {
  page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE })),
  cursor: Type.Optional(Type.String({ maxLength: 500 })),
};

export const pageQuerySchema = Type.Object(pageProperties);

/** Workspace routes accept `?team_uuid=`; see contract/object-store.md, section 5. */
export const teamQuerySchema = Type.Object({ team_uuid: Type.Optional(idSchema) });
export const teamPageQuerySchema = Type.Object({ ...pageProperties, team_uuid: Type.Optional(idSchema) });

export const endedSchema = Type.Object({ sessions_ended: Type.Integer() });
export const deletedSchema = Type.Object({ id: Type.String(), deleted: Type.Literal(true) });

export const userSchema = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  operator: Type.Boolean(),
  created_at: timestampSchema,
});

export function listSchema<Item extends TSchema>(name: string, item: Item) {
  return Type.Object({ [name]: Type.Array(item), next_cursor: nullable(Type.String()) });
}
