import { Type, type Static } from 'typebox';
import { encodingSchema } from './commands.ts';
import { commandNameSchema, identifierSchema, messageErrorSchema, sequenceSchema, timestampSchema } from './parts.ts';

const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/**
 * Sent within one second of each command. `duplicate`: this id was received before; its result follows when available.
 */
export const commandAckSchema = Type.Object({
  command_id: identifierSchema,
  command: commandNameSchema,
  state: Type.Enum(['accepted', 'queued', 'rejected', 'duplicate']),
  /** Position in the queue of the same project; 1 = next. */
  position: Type.Optional(count),
  error: Type.Optional(messageErrorSchema),
});
/** Payload of `command_ack`. `error` explains a rejection. */
export type CommandAck = Static<typeof commandAckSchema>;

/** At most one per second and command, plus one at each change of phase. */
export const commandProgressSchema = Type.Object({
  command_id: identifierSchema,
  seq: sequenceSchema,
  phase: Type.String({ minLength: 1, maxLength: 64 }),
  message: Type.String({ maxLength: 4096 }),
  counts: Type.Optional(
    Type.Record(Type.String({ pattern: '^[a-z_]{1,64}$' }), count, { maxProperties: 32, additionalProperties: false }),
  ),
});
/** Payload of `command_progress`: the phase of a running command, for display. */
export type CommandProgress = Static<typeof commandProgressSchema>;

/** Output of exec and logs, in the order of `seq`. `dropped_bytes` were lost just before this piece. */
export const commandOutputSchema = Type.Object({
  command_id: identifierSchema,
  seq: sequenceSchema,
  stream: Type.Enum(['stdout', 'stderr', 'log']),
  encoding: encodingSchema,
  data: Type.String(),
  dropped_bytes: Type.Optional(count),
  dropped_lines: Type.Optional(count),
  /** For followed logs: the position of the last line, for `resume_after`. Only agents can interpret it. */
  position: Type.Optional(Type.String({ maxLength: 256 })),
});
/** Payload of `command_output`: a piece of output, UTF-8 or base64 according to `encoding`. */
export type CommandOutput = Static<typeof commandOutputSchema>;

/**
 * How a command ended. `superseded`: a newer deploy of the same project and namespace replaced it in the queue. `lost`:
 * the outcome is unknown, for example because the agent restarted during an exec.
 */
export const commandStatusSchema = Type.Enum(['succeeded', 'failed', 'timed_out', 'cancelled', 'superseded', 'lost']);
/** The final status of a command. */
export type CommandStatus = Static<typeof commandStatusSchema>;

/**
 * What a deploy did to one object, and the health of the object afterwards. `skipped`: left unchanged, for example
 * after a failure of another object.
 */
export const resourceResultSchema = Type.Object({
  api_version: Type.String({ maxLength: 253 }),
  kind: Type.String({ maxLength: 253 }),
  namespace: Type.String({ maxLength: 253 }),
  name: Type.String({ maxLength: 253 }),
  uid: Type.Optional(Type.String({ maxLength: 128 })),
  action: Type.Enum(['created', 'configured', 'unchanged', 'pruned', 'skipped', 'failed']),
  health: Type.Enum(['ready', 'progressing', 'degraded', 'failed', 'unknown']),
  message: Type.Optional(Type.String({ maxLength: 4096 })),
  error: Type.Optional(messageErrorSchema),
  /** Dry runs only: field paths with the values before and after, as truncated JSON. */
  diff: Type.Optional(
    Type.Array(
      Type.Object({
        path: Type.String({ maxLength: 1024 }),
        before: Type.Optional(Type.String({ maxLength: 1024 })),
        after: Type.Optional(Type.String({ maxLength: 1024 })),
      }),
      { maxItems: 256 },
    ),
  ),
});
/** The result of a deploy for one object. */
export type ResourceResult = Static<typeof resourceResultSchema>;

/**
 * The outcome of a deploy. `resources` lists at most 2,000 objects. In a dry run, the actions are those that the deploy
 * would take.
 */
export const deployResultSchema = Type.Object({
  project_id: Type.String({ maxLength: 253 }),
  namespace: Type.String({ maxLength: 253 }),
  dry_run: Type.Boolean(),
  /** SHA-256 of the manifest text, in hex. */
  manifest_sha256: Type.String({ maxLength: 64 }),
  revision: Type.Optional(Type.String({ maxLength: 128 })),
  /** True if some objects were changed before a later one failed. */
  partially_applied: Type.Boolean(),
  summary: Type.Object({
    created: count,
    configured: count,
    unchanged: count,
    pruned: count,
    skipped: count,
    failed: count,
  }),
  resources: Type.Array(resourceResultSchema, { maxItems: 2000 }),
  /** `Warning` headers of the API server and our own hints. */
  warnings: Type.Array(Type.String({ maxLength: 4096 }), { maxItems: 256 }),
});
/** The `deploy` part of a `command_result`. */
export type DeployResult = Static<typeof deployResultSchema>;

/** A command that ran is `succeeded`, whatever its exit code. */
export const execResultSchema = Type.Object({
  exit_code: Type.Union([Type.Integer(), Type.Null()]),
  container: Type.String({ maxLength: 253 }),
  stdout_bytes: count,
  stderr_bytes: count,
  truncated: Type.Boolean(),
  /** The connection ended before the process, which may still run (Kubernetes cannot kill it). */
  process_may_be_running: Type.Boolean(),
  /** The whole output if it fits into 64 KiB each; absent if sent as `command_output`. */
  stdout: Type.Optional(Type.String()),
  stderr: Type.Optional(Type.String()),
  encoding: Type.Optional(encodingSchema),
});
/** The `exec` part of a `command_result`. `exit_code` is null if the agent did not see the command exit. */
export type ExecResult = Static<typeof execResultSchema>;

/**
 * The end of a log: the reason, and the number of lines and bytes read. `truncated`: lines were dropped, or
 * `limit_bytes` or the maximum of `tail_lines` applied.
 */
export const logsResultSchema = Type.Object({
  container: Type.String({ maxLength: 253 }),
  reason: Type.Enum(['eof', 'container_terminated', 'pod_deleted', 'cancelled', 'limit']),
  lines: count,
  bytes: count,
  dropped_lines: count,
  truncated: Type.Boolean(),
  /** Time of the last line, for `since_time` of a later call. */
  last_timestamp: Type.Optional(Type.String({ maxLength: 64 })),
});
/** The `logs` part of a `command_result`. */
export type LogsResult = Static<typeof logsResultSchema>;

/** Exactly one per command, resent until `result_ack`. */
export const commandResultSchema = Type.Object({
  command_id: identifierSchema,
  command: commandNameSchema,
  status: commandStatusSchema,
  started_at: timestampSchema,
  finished_at: timestampSchema,
  duration_ms: count,
  error: Type.Optional(messageErrorSchema),
  deploy: Type.Optional(deployResultSchema),
  exec: Type.Optional(execResultSchema),
  logs: Type.Optional(logsResultSchema),
});
/**
 * Payload of `command_result`. `deploy`, `exec` or `logs` holds the outcome of a command that ran; `error` explains a
 * failure.
 */
export type CommandResult = Static<typeof commandResultSchema>;
