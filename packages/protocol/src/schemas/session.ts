import { Type, type Static } from 'typebox';
import { PROTOCOL_LIMITS } from '../limits.ts';
import { identifierSchema, messageErrorSchema, sequenceSchema, textSchema, timestampSchema } from './parts.ts';

const positive = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

/**
 * The agent's first message. A platform that knows only the contract ignores it and sends no `welcome`.
 * `instance_id` is new with each start of the agent process. `epoch` counts the
 * connections of this instance, so that a late one can be told from a newer one.
 */
export const helloSchema = Type.Object({
  protocol: positive,
  agent_version: textSchema({ maxLength: 128 }),
  instance_id: identifierSchema,
  epoch: positive,
  started_at: timestampSchema,
  session_id: Type.Optional(identifierSchema),
  cluster_name: Type.Optional(Type.String({ maxLength: 253 })),
  kubernetes_version: Type.Optional(textSchema({ maxLength: 128 })),
  /** Outbox numbers count within it, over restarts of the agent; absent = within `instance_id`. */
  outbox_id: Type.Optional(identifierSchema),
  /** Numbers of the oldest and newest event still kept; absent when none is. */
  outbox: Type.Optional(Type.Object({ first: sequenceSchema, last: sequenceSchema })),
  /** Commands that are queued, running, or finished with a result nobody acknowledged. One sent before and not here is `lost`. */
  in_flight: Type.Array(identifierSchema, { maxItems: PROTOCOL_LIMITS.idsPerMessage }),
  /** Names of what this agent can do: `deploy`, `exec`, `logs`, `events`, `tunnel`. */
  capabilities: Type.Array(Type.String({ maxLength: 64 }), { maxItems: 64 }),
});
export type Hello = Static<typeof helloSchema>;

/** The platform's answer to `hello`. */
export const welcomeSchema = Type.Object({
  protocol: positive,
  session_id: identifierSchema,
  /** For an agent that was given only the cluster's name. */
  cluster_id: Type.Optional(identifierSchema),
  /** True when the platform still knows this outbox: events up to `last_received_seq` need not be sent again. */
  resumed: Type.Boolean(),
  last_received_seq: sequenceSchema,
  server_time: timestampSchema,
  platform_version: Type.Optional(Type.String({ maxLength: 128 })),
  heartbeat_interval_seconds: Type.Integer({ minimum: 1, maximum: 3600 }),
  /** True: `output_ack` follows each `command_output`, and what has none is sent again. Absent = false. */
  acknowledges_output: Type.Optional(Type.Boolean()),
  limits: Type.Object({
    messages_per_minute: positive,
    messages_burst: positive,
    frame_size_bytes: positive,
  }),
});
export type Welcome = Static<typeof welcomeSchema>;

/** Platform: this connection ends soon. Open the next one first, then close this one. */
export const drainSchema = Type.Object({
  reason: Type.String({ maxLength: 512 }),
  /** Spread the new attempt over so many milliseconds. */
  reconnect_within_ms: Type.Integer({ minimum: 0, maximum: 600_000 }),
});
export type Drain = Static<typeof drainSchema>;

/** Either side: answer with `pong`. For paths on which the frames of the same names (RFC 6455, 5.5.2) get no answer. */
export const pingSchema = Type.Object({});
export const pongSchema = Type.Object({});

/** Either side: a message could not be used. Never closes the connection by itself. */
export const errorMessageSchema = Type.Intersect([
  messageErrorSchema,
  Type.Object({
    /** Envelope id of the message in question. */
    message_id: Type.Optional(identifierSchema),
  }),
]);
export type ErrorMessage = Static<typeof errorMessageSchema>;
