import { WITHOUT_NUL } from '@svc/http';
import { Type, type Static } from 'typebox';

const MAX_TEXT_LENGTH = 131_072; // kernel limit (MAX_ARG_STRLEN)
const argument = Type.String({ maxLength: MAX_TEXT_LENGTH, pattern: WITHOUT_NUL });
const script = Type.String({ minLength: 1, maxLength: MAX_TEXT_LENGTH, pattern: WITHOUT_NUL });
const command = Type.Union([script, Type.Array(argument, { minItems: 1, maxItems: 4096 })]);
const directory = Type.String({ pattern: '^/[^\\u0000]*$', maxLength: 4096 });
const encoding = Type.Union([Type.Literal('utf-8'), Type.Literal('base64')]);
const variables = Type.Union([
  Type.Record(Type.String({ pattern: '^[^=\\u0000]+$' }), argument, {
    maxProperties: 512,
    additionalProperties: false,
  }),
  Type.Array(Type.String({ pattern: '^[^=\\u0000]+=[^\\u0000]*$', maxLength: MAX_TEXT_LENGTH }), { maxItems: 512 }),
]);

/** `cmd` and `cwd` are aliases of `command` and `workdir`, for existing clients. */
export const execBody = Type.Object(
  {
    command: Type.Optional(command),
    cmd: Type.Optional(command),
    workdir: Type.Optional(directory),
    cwd: Type.Optional(directory),
    env: Type.Optional(variables),
    user: Type.Optional(
      Type.String({ maxLength: 64, description: 'User of the image, by name or number; root by default' }),
    ),
    stdin: Type.Optional(Type.String({ description: 'Standard input of the command; empty by default' })),
    stdin_encoding: Type.Optional(encoding),
    encoding: Type.Optional(encoding),
    timeout_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400, description: '60 by default' })),
    stream: Type.Optional(Type.Boolean({ description: 'Stream the output as server-sent events' })),
  },
  { additionalProperties: false },
);

export type ExecBody = Static<typeof execBody>;

const result = {
  command,
  stdout: Type.String(),
  stderr: Type.String(),
  output: Type.String({ description: 'stdout and stderr combined, in order of arrival' }),
  encoding,
  exit_code: Type.Integer({ description: '128 + the signal number if a signal ended the command; -1 on timeout' }),
  signal: Type.Union([Type.String(), Type.Null()]),
  duration_ms: Type.Integer(),
  truncated: Type.Boolean({ description: 'Whether any output was cut; its beginning and end are kept' }),
  stdout_bytes: Type.Integer({ description: 'Size before any cut' }),
  stderr_bytes: Type.Integer(),
  timed_out: Type.Boolean(),
};

export const execResultSchema = Type.Object(result);

/** The error, with the output captured until the timeout. */
export const execTimeoutSchema = Type.Object({
  error: Type.String(),
  code: Type.Literal('COMMAND_TIMEOUT'),
  message: Type.String(),
  status: Type.Literal(504),
  request_id: Type.String(),
  details: Type.Object({ timeout_seconds: Type.Integer() }),
  ...result,
});

export type ExecResult = Static<typeof execResultSchema>;
