import { Type, type Static } from 'typebox';

/** Ids are opaque to the reader; the limit keeps a hostile peer from filling tables and logs. */
export const identifierSchema = Type.String({ minLength: 1, maxLength: 128, pattern: '^[\\x21-\\x7e]+$' });

/** A DNS label, as Kubernetes requires for namespaces. */
export const namespaceSchema = Type.String({ minLength: 1, maxLength: 63, pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$' });

/** A DNS subdomain, as Kubernetes requires for pods. */
export const podSchema = Type.String({ minLength: 1, maxLength: 253, pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$' });

/** Text stored in a column: PostgreSQL rejects NUL, which JSON can encode. */
export const textSchema = (limits: { minLength?: number; maxLength: number }) =>
  Type.String({ ...limits, pattern: '^[^\\u0000]*$' });

/** ISO 8601 with a zone, such as `2026-11-21T09:30:00.000Z`. */
export const timestampSchema = Type.String({
  maxLength: 64,
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?(Z|[+-]\\d{2}:\\d{2})$',
});

/** A sequence number from 0 to 2^53 - 1. Each `seq` counts within its scope, such as a command or an outbox. */
export const sequenceSchema = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/** The contract's error object, identical in HTTP bodies and messages. */
export const messageErrorSchema = Type.Object({
  code: Type.String({ minLength: 1, maxLength: 64 }),
  message: Type.String({ maxLength: 8192 }),
  details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
/** The contract's error object, in `error`, `command_ack` and `command_result`. */
export type MessageError = Static<typeof messageErrorSchema>;

/** The user who requested a command. The agent may impersonate this user and records it in its audit log. */
export const actorSchema = Type.Object({
  user: Type.String({ minLength: 1, maxLength: 256 }),
  groups: Type.Optional(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 64 })),
});
/** The user on whose behalf a command runs, with their groups. */
export type Actor = Static<typeof actorSchema>;

/** Types of messages that start a command and end with a `command_result`. */
export const commandNameSchema = Type.Enum(['deploy', 'exec', 'logs']);
/** The type of a command: `deploy`, `exec` or `logs`. */
export type CommandName = Static<typeof commandNameSchema>;
