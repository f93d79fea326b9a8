import { nullable } from '@svc/http';
import { type Static, Type } from 'typebox';
import { MAX_STEPS } from '../domain/templates/build-plan.ts';
import { TEMPLATE_TAG_PATTERN } from '../domain/templates/template.ts';
import { environmentSchema } from './schemas.ts';

const WITHOUT_NUL = '^[^\\u0000]*$';
const text = (maxLength: number, description?: string) =>
  Type.String({ minLength: 1, maxLength, pattern: WITHOUT_NUL, ...(description === undefined ? {} : { description }) });
const time = Type.String({ format: 'date-time' });

export const tagSchema = Type.String({ pattern: TEMPLATE_TAG_PATTERN });
export const templateParams = Type.Object({
  name: Type.String({ maxLength: 128, description: 'Name or ID of the template' }),
});
export const buildParams = Type.Object({
  name: Type.String({ maxLength: 128, description: 'Name or ID of the template' }),
  build: Type.String({ maxLength: 64, description: 'ID of the build' }),
});

const hashSchema = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description: 'SHA-256 of an archive that was uploaded to /api/templates/files',
});
export const filesParams = Type.Object({ hash: hashSchema });

const copySchema = Type.Object(
  {
    sources: Type.Array(text(1024), { minItems: 1, maxItems: 100 }),
    destination: text(1024),
    owner: Type.Optional(text(100, 'User, or user:group; root by default')),
    mode: Type.Optional(Type.String({ pattern: '^0?[0-7]{3,4}$', description: 'Octal, such as 755' })),
    files: Type.Optional(hashSchema),
    from: Type.Optional(text(512, 'Image or template to copy from, instead of uploaded files')),
  },
  { additionalProperties: false },
);

const one = <Name extends string, Schema extends Parameters<typeof Type.Optional>[0]>(name: Name, schema: Schema) =>
  Type.Object({ [name]: schema } as Record<Name, Schema>, { additionalProperties: false });

const commandSchema = Type.Union([text(65_536), Type.Array(text(65_536), { minItems: 1, maxItems: 1000 })], {
  description: 'Line for /bin/sh, or program and arguments',
});

const stepSchema = Type.Union([
  Type.Object(
    { run: commandSchema, user: Type.Optional(text(100, 'User for this command only')) },
    { additionalProperties: false },
  ),
  one('copy', copySchema),
  one('env', environmentSchema),
  one('workdir', text(1024)),
  one('user', text(100)),
  one('expose', Type.Array(Type.Integer({ minimum: 1, maximum: 65_535 }), { maxItems: 100 })),
]);

const dockerfileSchema = Type.String({ minLength: 1, maxLength: 262_144, description: 'Text of a Dockerfile' });
const dockerfileFields = {
  build_args: Type.Optional(environmentSchema),
  target: Type.Optional(text(128, 'Stage of the Dockerfile to build; the last one by default')),
};

export const planBodySchema = Type.Object(
  { dockerfile: dockerfileSchema, ...dockerfileFields },
  { additionalProperties: false },
);
export const planSchema = Type.Object({
  steps: Type.Integer(),
  copies: Type.Array(Type.Object({ sources: Type.Array(Type.String()), line: nullable(Type.Integer()) }), {
    description: 'Sources of each COPY from the context, in order; files of the build takes an archive for each',
  }),
});

export const buildBodySchema = Type.Object(
  {
    from: Type.Optional(text(512, 'Image of the catalog, or a template; not with a Dockerfile')),
    steps: Type.Optional(Type.Array(stepSchema, { maxItems: MAX_STEPS })),
    dockerfile: Type.Optional(dockerfileSchema),
    ...dockerfileFields,
    files: Type.Optional(
      Type.Array(hashSchema, {
        maxItems: MAX_STEPS,
        description: 'Uploaded archive of each COPY of the Dockerfile that takes files of the context, in order',
      }),
    ),
    tags: Type.Optional(Type.Array(tagSchema, { maxItems: 20, description: 'latest by default' })),
    start_command: Type.Optional(commandSchema),
    ready_command: Type.Optional(text(65_536, 'Line for /bin/sh; the build waits until it succeeds')),
    resources: Type.Optional(
      Type.Object(
        {
          cpu: Type.Optional(Type.Number({ minimum: 0.05, maximum: 256 })),
          memory_mb: Type.Optional(Type.Integer({ minimum: 32, maximum: 1_048_576 })),
          disk_mb: Type.Optional(Type.Integer({ minimum: 64, maximum: 1_048_576 })),
          pids: Type.Optional(Type.Integer({ minimum: 16, maximum: 65_536 })),
        },
        {
          additionalProperties: false,
          description: 'Resources of the build, and default resources of sandboxes created from it',
        },
      ),
    ),
    no_cache: Type.Optional(Type.Boolean({ description: 'Run all steps again' })),
  },
  { additionalProperties: false },
);
export type BuildBody = Static<typeof buildBodySchema>;

export const buildSchema = Type.Object({
  id: Type.String(),
  template_id: Type.String(),
  name: Type.String(),
  status: Type.Union([Type.Literal('waiting'), Type.Literal('building'), Type.Literal('ready'), Type.Literal('error')]),
  tags: Type.Array(Type.String(), { description: 'Tags assigned once the build is ready' }),
  error: nullable(
    Type.Object({ message: Type.String(), step: nullable(Type.Integer()), line: nullable(Type.Integer()) }),
  ),
  steps: nullable(Type.Integer({ description: 'Steps that change files' })),
  cached_steps: nullable(Type.Integer()),
  user: nullable(Type.String()),
  workdir: nullable(Type.String()),
  start_command: nullable(Type.Array(Type.String())),
  ready_command: nullable(Type.String()),
  ports: Type.Array(Type.Integer()),
  resources: Type.Object({
    cpu: Type.Number(),
    memory_mb: Type.Integer(),
    disk_mb: Type.Integer(),
    pids: Type.Integer(),
  }),
  node: Type.String(),
  available: Type.Boolean({ description: 'Whether sandboxes can be created from it' }),
  created_at: time,
  started_at: nullable(time),
  finished_at: nullable(time),
  archived_at: nullable({
    ...time,
    description: 'Since when sandboxes can be created from it on every node; null: only on its own',
  }),
  archive_error: nullable(
    Type.String({
      description: 'Why the last attempt to archive it failed; the next one follows within a few minutes',
    }),
  ),
});

export const templateSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  created_at: time,
  tags: Type.Array(Type.Object({ tag: Type.String(), build_id: Type.String(), created_at: time })),
  builds: Type.Array(buildSchema, { description: 'Newest first' }),
});

export const logSchema = Type.Object({
  lines: Type.Array(
    Type.Object({
      sequence: Type.Integer(),
      at: time,
      level: Type.Union([Type.Literal('info'), Type.Literal('warn'), Type.Literal('error')]),
      step: nullable(Type.Integer()),
      message: Type.String(),
    }),
  ),
  next: Type.Integer({ description: 'Value of after for the next request' }),
  status: buildSchema.properties.status,
  error: buildSchema.properties.error,
});
