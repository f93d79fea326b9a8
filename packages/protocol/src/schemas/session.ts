import { Type, type Static } from 'typebox';
import { PROTOCOL_LIMITS } from '../limits.ts';
import { identifierSchema, messageErrorSchema, sequenceSchema, textSchema, timestampSchema } from './parts.ts';

const positive = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

/**
 * The agent's first message. A contract-only platform ignores it and sends no `welcome`. `instance_id` is new at each
 * start of the agent process. `epoch` counts the connections of this instance, to distinguish a stale one from a newer
 * one.
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
  /** Scope of outbox numbers, stable across agent restarts; defaults to `instance_id`. */
  outbox_id: Type.Optional(identifierSchema),
  /** Numbers of the oldest and newest buffered event; absent if there is none. */
  outbox: Type.Optional(Type.Object({ first: sequenceSchema, last: sequenceSchema })),
  /**
   * Commands that are queued, running, or finished with an unacknowledged result. Any other command sent before is
   * `lost`.
   */
  in_flight: Type.Array(identifierSchema, { maxItems: PROTOCOL_LIMITS.idsPerMessage }),
  /** Capabilities of this agent: `deploy`, `exec`, `logs`, `events`, `tunnel`. */
  capabilities: Type.Array(Type.String({ maxLength: 64 }), { maxItems: 64 }),
});
/** Payload of `hello`: introduces the agent and lists its open commands and buffered events. */
export type Hello = Static<typeof helloSchema>;

/** The platform's reply to `hello`. */
export const welcomeSchema = Type.Object({
  protocol: positive,
  session_id: identifierSchema,
  /** For an agent configured with only the cluster's name. */
  cluster_id: Type.Optional(identifierSchema),
  /** True if the platform still knows this outbox: events up to `last_received_seq` need not be resent. */
  resumed: Type.Boolean(),
  last_received_seq: sequenceSchema,
  server_time: timestampSchema,
  platform_version: Type.Optional(Type.String({ maxLength: 128 })),
  heartbeat_interval_seconds: Type.Integer({ minimum: 1, maximum: 3600 }),
  /** True: `output_ack` follows each `command_output`, and unacknowledged output is resent. Defaults to false. */
  acknowledges_output: Type.Optional(Type.Boolean()),
  limits: Type.Object({
    messages_per_minute: positive,
    messages_burst: positive,
    frame_size_bytes: positive,
  }),
});
/** Payload of `welcome`: the session, the point from which to resend events, and the limits of the connection. */
export type Welcome = Static<typeof welcomeSchema>;

/** From the platform: this connection ends soon. Open the next one first, then close this one. */
export const drainSchema = Type.Object({
  reason: Type.String({ maxLength: 512 }),
  /** Delay the reconnect by a random time up to this many milliseconds. */
  reconnect_within_ms: Type.Integer({ minimum: 0, maximum: 600_000 }),
});
/** Payload of `drain`, which a platform replica sends before it stops. */
export type Drain = Static<typeof drainSchema>;

/** From either side: reply with `pong`. For paths on which WebSocket ping frames (RFC 6455, 5.5.2) get no reply. */
export const pingSchema = Type.Object({});
/** From either side: the reply to `ping`. */
export const pongSchema = Type.Object({});

/** From either side: a message was not usable. Never closes the connection by itself. */
export const errorMessageSchema = Type.Intersect([
  messageErrorSchema,
  Type.Object({
    /** Envelope id of the rejected message. */
    message_id: Type.Optional(identifierSchema),
  }),
]);
/** Payload of `error`, with the id of the message that it rejects, if known. */
export type ErrorMessage = Static<typeof errorMessageSchema>;
