import { Type, type Static } from 'typebox';
import { PROTOCOL_LIMITS } from '../limits.ts';
import { actorSchema, identifierSchema, namespaceSchema, podSchema, sequenceSchema, timestampSchema } from './parts.ts';

const timeoutSeconds = Type.Integer({ minimum: 1, maximum: 86_400 });

/**
 * Contract: `project_id`, `manifest` (YAML, one or more documents), `namespace`. The rest is additive. Defaults: no dry
 * run, prune, wait 300 s for readiness, never take over fields of other managers.
 */
export const deploySchema = Type.Object({
  project_id: Type.String({ minLength: 1, maxLength: 63, pattern: '^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$' }),
  manifest: Type.String({ maxLength: PROTOCOL_LIMITS.manifestSizeBytes }),
  namespace: namespaceSchema,
  dry_run: Type.Optional(Type.Boolean()),
  prune: Type.Optional(Type.Boolean()),
  wait: Type.Optional(Type.Boolean()),
  timeout_seconds: Type.Optional(timeoutSeconds),
  force_conflicts: Type.Optional(Type.Boolean()),
  revision: Type.Optional(Type.String({ maxLength: 128 })),
  actor: Type.Optional(actorSchema),
});
/** Payload of `deploy`: applies a manifest to a namespace on behalf of a project. The result has `deploy`. */
export type DeployCommand = Static<typeof deploySchema>;

/**
 * Contract: `pod`, `namespace`, `container` (empty = the pod's default container), `command`. The rest is additive.
 * Defaults: no stdin, no terminal, 60 s unless interactive, 1 MiB of output (unlimited if interactive). `stream` sends
 * output as it arrives, even if it would fit into the result. `timeout_seconds` 0 = no limit.
 */
export const execSchema = Type.Object({
  pod: podSchema,
  namespace: namespaceSchema,
  container: Type.Optional(Type.String({ maxLength: 253 })),
  command: Type.Array(Type.String({ maxLength: 65_536 }), { minItems: 1, maxItems: 1024 }),
  stdin: Type.Optional(Type.Boolean()),
  tty: Type.Optional(Type.Boolean()),
  rows: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
  cols: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
  timeout_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400 })),
  max_output_bytes: Type.Optional(Type.Integer({ minimum: 0, maximum: 1024 * 1024 * 1024 })),
  stream: Type.Optional(Type.Boolean()),
  actor: Type.Optional(actorSchema),
});
/** Payload of `exec`: runs a command in a container of a pod. The result has `exec`. */
export type ExecCommand = Static<typeof execSchema>;

/** Contract: `pod`, `namespace`, `container`, `tail_lines` (default 100, at most 10,000), `follow`. */
export const logsSchema = Type.Object({
  pod: podSchema,
  namespace: namespaceSchema,
  container: Type.Optional(Type.String({ maxLength: 253 })),
  tail_lines: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  follow: Type.Optional(Type.Boolean()),
  since_time: Type.Optional(timestampSchema),
  since_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  previous: Type.Optional(Type.Boolean()),
  timestamps: Type.Optional(Type.Boolean()),
  limit_bytes: Type.Optional(Type.Integer({ minimum: 1, maximum: 1024 * 1024 * 1024 })),
  /** `position` of the last received output, from before an agent, platform or connection ended; resumes after it. */
  resume_after: Type.Optional(Type.String({ maxLength: 256 })),
  actor: Type.Optional(actorSchema),
});
/** Payload of `logs`: reads or follows a container's log. The result has `logs`. */
export type LogsCommand = Static<typeof logsSchema>;

/** Additive: stops a queued or running command. A finished one does not change. */
export const cancelSchema = Type.Object({
  command_id: identifierSchema,
  reason: Type.Optional(Type.String({ maxLength: 512 })),
});
/** Payload of `cancel`. A cancelled command still ends with a `command_result`. */
export type CancelCommand = Static<typeof cancelSchema>;

/** Encoding of `data` and of captured output: UTF-8 text, or base64 for other bytes (RFC 4648, section 4). */
export const encodingSchema = Type.Enum(['utf8', 'base64']);

/** Additive: stdin of a running exec; `eof` closes it after `data`. */
export const stdinSchema = Type.Object({
  command_id: identifierSchema,
  seq: sequenceSchema,
  data: Type.String(),
  encoding: Type.Optional(encodingSchema),
  eof: Type.Optional(Type.Boolean()),
});
/**
 * Payload of `stdin`. `seq` increases with each piece; the agent ignores repeated pieces. `encoding` defaults to
 * `utf8`.
 */
export type StdinCommand = Static<typeof stdinSchema>;

/** Additive: the terminal's size in character cells. */
export const resizeSchema = Type.Object({
  command_id: identifierSchema,
  rows: Type.Integer({ minimum: 1, maximum: 65_535 }),
  cols: Type.Integer({ minimum: 1, maximum: 65_535 }),
});
/** Payload of `resize`. Applies only to an exec with `tty`. */
export type ResizeCommand = Static<typeof resizeSchema>;

/** Additive: this output has arrived; the agent need not resend it over another connection. */
export const outputAckSchema = Type.Object({
  outputs: Type.Array(Type.Object({ command_id: identifierSchema, seq: sequenceSchema }), {
    minItems: 1,
    maxItems: PROTOCOL_LIMITS.idsPerMessage,
  }),
});
/** Payload of `output_ack`: acknowledges all output of each command up to `seq`. */
export type OutputAck = Static<typeof outputAckSchema>;

/** Additive: these results are stored; the agent stops sending them. */
export const resultAckSchema = Type.Object({
  command_ids: Type.Array(identifierSchema, { minItems: 1, maxItems: PROTOCOL_LIMITS.idsPerMessage }),
});
/** Payload of `result_ack`: the ids of commands with a stored result. */
export type ResultAck = Static<typeof resultAckSchema>;
