import { nullable, WITHOUT_NUL } from '@svc/http';
import { Type } from 'typebox';
import { MAX_EGRESS_RULES } from '../domain/egress-rules/egress-rule.ts';
import { NAME_PATTERN } from '../domain/identifiers.ts';
import { SECRET_NAME_PATTERN } from '../domain/secrets/secret.ts';
import { MAX_MOUNTS_OF_SANDBOX } from '../domain/mounts/bucket-mount.ts';
import { MAX_VOLUMES_OF_SANDBOX } from '../domain/volumes/volume.ts';

const timestamp = Type.String({ format: 'date-time', description: 'RFC 3339, UTC, milliseconds' });

export const statusSchema = Type.Union([
  Type.Literal('creating'),
  Type.Literal('running'),
  Type.Literal('stopped'),
  Type.Literal('error'),
]);

const onDrainSchema = Type.Union([Type.Literal('stop'), Type.Literal('snapshot'), Type.Literal('move')], {
  description:
    'What a drain of the node does: stop the sandbox, stop it and take a snapshot, or start it on another node with its ' +
    'files; stop by default',
});
const onNodeLostSchema = Type.Union([Type.Literal('wait'), Type.Literal('restore')], {
  description:
    'What happens if the node does not respond: wait for its return, or restore the last archived snapshot of the ' +
    'sandbox on another node; wait by default',
});
const networkSchema = Type.Union([Type.Literal('none'), Type.Literal('egress')]);
const isolationSchema = Type.Union([Type.Literal('namespaces'), Type.Literal('gvisor')]);
const wantedIsolationSchema = Type.Union([Type.Literal('default'), ...isolationSchema.anyOf], {
  description: "Defaults to the platform's sandboxes.isolation",
});

const expiryActionSchema = Type.Union([Type.Literal('delete'), Type.Literal('pause'), Type.Literal('stop')], {
  description:
    'What happens when it expires; delete by default. With pause and stop, the sandbox is kept and no longer expires',
});

export const egressRuleSchema = Type.Object(
  {
    host: Type.String({
      maxLength: 255,
      description: 'Hostname, such as api.example.com, or *.example.com for all names below it',
    }),
    header: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9!#$%&*+.^_`|~-]{1,128}$',
        description: 'Header to set; instead of query',
      }),
    ),
    query: Type.Optional(
      Type.String({ pattern: '^[ -~]{1,128}$', description: 'Query parameter to set; instead of header' }),
    ),
    secret: Type.String({ pattern: SECRET_NAME_PATTERN, description: 'Name of a secret of the workspace' }),
    template: Type.Optional(
      Type.String({
        pattern: '^[\\t -~]{1,512}$',
        description: 'Template of the value; {value} is replaced with the secret. Defaults to {value}',
      }),
    ),
    insecure: Type.Optional(
      Type.Boolean({ description: 'Also set it in requests over plain HTTP, which are refused otherwise' }),
    ),
  },
  { additionalProperties: false },
);

export const egressRulesSchema = Type.Array(egressRuleSchema, {
  maxItems: MAX_EGRESS_RULES,
  description: 'Secrets that are added to requests outside the sandbox',
});

export const volumeMountsSchema = Type.Array(
  Type.Object(
    {
      name: Type.String({ pattern: NAME_PATTERN, description: 'Name of a volume of the workspace' }),
      path: Type.String({
        minLength: 2,
        maxLength: 1024,
        description: 'Folder in the sandbox; created if it is missing',
      }),
      read_only: Type.Optional(
        Type.Boolean({ description: 'false by default; several sandboxes may mount it read-only' }),
      ),
    },
    { additionalProperties: false },
  ),
  { maxItems: MAX_VOLUMES_OF_SANDBOX, description: 'Volumes that the sandbox mounts' },
);

export const bucketMountsSchema = Type.Array(
  Type.Object(
    {
      bucket: Type.String({ minLength: 3, maxLength: 63, description: 'Name of a bucket of the workspace' }),
      prefix: Type.Optional(Type.String({ maxLength: 512, description: 'Folder of the bucket; all of it by default' })),
      path: Type.String({
        minLength: 2,
        maxLength: 1024,
        description: 'Folder in the sandbox; created if it is missing',
      }),
      read_only: Type.Optional(Type.Boolean({ description: 'false by default' })),
    },
    { additionalProperties: false },
  ),
  { maxItems: MAX_MOUNTS_OF_SANDBOX, description: 'Buckets that the sandbox mounts as folders' },
);

const progressSchema = Type.Object(
  {
    stage: Type.String({ description: 'resolving, downloading, unpacking, or building' }),
    message: Type.String({ description: 'Progress as a sentence for people' }),
    source: Type.String(),
    layers: Type.Integer(),
    layers_done: Type.Integer(),
    bytes: Type.Integer({ description: 'Compressed bytes to download; 0 if nothing is downloaded' }),
    bytes_done: Type.Integer(),
  },
  { description: 'Progress of preparing the image. Only the first sandbox of an image waits for it.' },
);

export const sandboxSchema = Type.Object({
  id: Type.String({ pattern: '^sbx_[a-z2-7]{26}$' }),
  name: Type.String(),
  image: Type.String(),
  snapshot_id: nullable(Type.String({ description: 'Snapshot that the sandbox was created from' })),
  template_build_id: nullable(Type.String({ description: 'Build of the template that the sandbox was created from' })),
  status: statusSchema,
  state_reason: nullable(Type.String()),
  error: nullable(Type.Object({ code: Type.String(), message: Type.String(), recoverable: Type.Boolean() })),
  created_at: timestamp,
  started_at: nullable(timestamp),
  paused_at: nullable(timestamp),
  expires_at: nullable(timestamp),
  on_expiry: expiryActionSchema,
  last_activity_at: timestamp,
  labels: Type.Record(Type.String(), Type.String()),
  environment: Type.Record(Type.String(), Type.String()),
  resources: Type.Object({
    cpu: Type.Number(),
    memory_mb: Type.Integer(),
    disk_mb: Type.Integer(),
    pids: Type.Integer(),
    gpus: Type.Optional(Type.Integer({ description: 'Absent if there are none' })),
  }),
  driver: Type.String(),
  cluster: nullable(
    Type.String({ description: 'Connected cluster that runs it as a pod; null: the platform runs it' }),
  ),
  isolation: isolationSchema,
  shares_kernel: Type.Boolean({ description: "Whether its programs run directly on the host's kernel" }),
  network: networkSchema,
  egress_allow: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: 'Hosts and IPv4 ranges that the sandbox can reach; null: all public addresses',
  }),
  egress_deny: Type.Array(Type.String(), {
    description: 'Denied IPv4 ranges, if egress_allow resolves all names',
  }),
  egress_rules: egressRulesSchema,
  volumes: Type.Array(Type.Object({ name: Type.String(), path: Type.String(), read_only: Type.Boolean() })),
  mounts: Type.Array(
    Type.Object({
      bucket: Type.String(),
      prefix: Type.String(),
      path: Type.String(),
      read_only: Type.Boolean(),
      forked_from: Type.Optional(Type.String({ description: 'Bucket that this one was forked from for the sandbox' })),
    }),
  ),
  on_drain: onDrainSchema,
  on_node_lost: onNodeLostSchema,
  image_progress: nullable(progressSchema),
});

export const environmentSchema = Type.Record(
  Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$' }),
  Type.String({ maxLength: 32_768, pattern: WITHOUT_NUL }),
  { maxProperties: 128, additionalProperties: false },
);

export const labelsSchema = Type.Record(
  Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_./-]{0,62}$' }),
  Type.String({ maxLength: 255, pattern: WITHOUT_NUL }),
  { maxProperties: 64, additionalProperties: false },
);

export const egressAllowSchema = Type.Array(Type.String({ maxLength: 255 }), {
  maxItems: 100,
  description:
    'Allowed hosts, such as example.com, or *.example.com for all its subdomains, and IPv4 addresses or ranges; ' +
    'all others are blocked. With *, other names resolve too, to addresses in the ranges',
});

export const egressDenySchema = Type.Array(Type.String({ maxLength: 18 }), {
  maxItems: 100,
  description: 'Denied IPv4 addresses and ranges; everything else is allowed. Not with egress_allow',
});

export const createBodySchema = Type.Object(
  {
    image: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'Name or alias of an image in the catalog' }),
    ),
    template: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 300,
        description: 'Template to start from, instead of an image: its name, a name with a tag, or the ID of a build',
      }),
    ),
    snapshot_id: Type.Optional(
      Type.String({ maxLength: 100, description: 'Snapshot to start from, instead of an image' }),
    ),
    // Some clients send null for absent fields.
    name: Type.Optional(nullable(Type.String({ pattern: NAME_PATTERN }))),
    environment: Type.Optional(nullable(environmentSchema)),
    labels: Type.Optional(nullable(labelsSchema)),
    resources: Type.Optional(
      Type.Object(
        {
          cpu: Type.Optional(Type.Number({ minimum: 0.05 })),
          memory_mb: Type.Optional(Type.Integer({ minimum: 32 })),
          disk_mb: Type.Optional(Type.Integer({ minimum: 64 })),
          pids: Type.Optional(Type.Integer({ minimum: 16 })),
          gpus: Type.Optional(Type.Integer({ minimum: 0, description: 'GPUs; refused where the driver has none' })),
        },
        { additionalProperties: false },
      ),
    ),
    network: Type.Optional(networkSchema),
    egress_allow: Type.Optional(egressAllowSchema),
    egress_deny: Type.Optional(egressDenySchema),
    egress_rules: Type.Optional(egressRulesSchema),
    isolation: Type.Optional(wantedIsolationSchema),
    volumes: Type.Optional(volumeMountsSchema),
    mounts: Type.Optional(bucketMountsSchema),
    cluster: Type.Optional(
      nullable(
        Type.String({
          minLength: 1,
          maxLength: 128,
          description: 'Connected cluster to run in, by name or ID; by default, the platform runs the sandbox',
        }),
      ),
    ),
    idle_timeout_seconds: Type.Optional(Type.Integer({ minimum: 10, maximum: 31_536_000 })),
    on_expiry: Type.Optional(expiryActionSchema),
    max_lifetime_seconds: Type.Optional(Type.Integer({ minimum: 10, maximum: 31_536_000 })),
    on_drain: Type.Optional(onDrainSchema),
    on_node_lost: Type.Optional(onNodeLostSchema),
  },
  { additionalProperties: false },
);

export const egressRulesBodySchema = Type.Object({ egress_rules: egressRulesSchema }, { additionalProperties: false });

export const changeBodySchema = Type.Object(
  {
    expires_in_seconds: Type.Optional(
      nullable(
        Type.Integer({ minimum: 1, maximum: 31_536_000, description: 'Time from now until it expires; null: never' }),
      ),
    ),
    labels: Type.Optional(labelsSchema),
  },
  { additionalProperties: false, minProperties: 1, description: 'What to change; labels replace all present ones' },
);

/** Every route applies to one workspace: the named one, or the caller's own by default. */
export const workspaceQuery = {
  workspace_uuid: Type.Optional(Type.String({ maxLength: 100 })),
  team_uuid: Type.Optional(Type.String({ maxLength: 100 })),
};

export const waitQuerySchema = Type.Object({
  ...workspaceQuery,
  wait_ms: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 30_000, description: 'Milliseconds to wait for the start' }),
  ),
});

export const removeQuerySchema = Type.Object({
  ...workspaceQuery,
  volumes: Type.Optional(
    Type.Union([Type.Literal('keep'), Type.Literal('delete')], {
      description: 'With delete, also delete writable volumes that no other sandbox mounts; keep by default',
    }),
  ),
  drop_data: Type.Optional(
    Type.Boolean({
      description: 'For forks: also delete the volumes and buckets that were made for it, unless others mount them',
    }),
  ),
});

export const workspaceQuerySchema = Type.Object(workspaceQuery);

export const getQuerySchema = Type.Object({
  ...workspaceQuery,
  wait_for: Type.Optional(statusSchema),
  timeout: Type.Optional(Type.Integer({ minimum: 0, maximum: 60, description: 'Seconds; 30 by default' })),
});

export const listQuerySchema = Type.Object(
  {
    ...workspaceQuery,
    status: Type.Optional(statusSchema),
    name: Type.Optional(Type.String({ maxLength: 64 })),
    page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: '200 by default' })),
    cursor: Type.Optional(Type.String({ maxLength: 200 })),
  },
  { patternProperties: { '^label\\..+$': Type.String() } },
);

export const listSchema = Type.Object({
  containers: Type.Array(sandboxSchema),
  count: Type.Integer(),
  limit: Type.Integer({ description: 'Maximum number of sandboxes of the caller' }),
  next_cursor: nullable(Type.String()),
});

export const idParamsSchema = Type.Object({ id: Type.String({ maxLength: 100 }) });

export const removedSchema = Type.Object({
  id: Type.String(),
  deleted: Type.Literal(true),
  message: Type.String(),
});

export const removedSandboxSchema = Type.Object({
  ...removedSchema.properties,
  deleted_volumes: Type.Optional(Type.Array(Type.String(), { description: 'Names of the volumes that were deleted' })),
  deleted_buckets: Type.Optional(Type.Array(Type.String(), { description: 'Names of the buckets that were deleted' })),
});

export const imagesSchema = Type.Object({
  images: Type.Array(
    Type.Object({
      name: Type.String(),
      display_name: Type.String(),
      description: Type.String(),
      category: Type.String(),
      tags: Type.Array(Type.String()),
      popular: Type.Boolean(),
      default: Type.Boolean(),
      aliases: Type.Array(Type.String()),
      cached: Type.Boolean(),
      drivers: Type.Array(Type.String()),
      progress: nullable(progressSchema),
    }),
  ),
  categories: Type.Record(Type.String(), Type.Array(Type.String())),
  popular: Type.Array(Type.String()),
  count: Type.Integer(),
});
