import { type Static, Type } from 'typebox';

const amount = (value: number, minimum: number, maximum: number, description: string) =>
  Type.Integer({ default: value, minimum, maximum, description });

const resourcesSchema = Type.Object({
  cpu: Type.Number({ default: 1, minimum: 0.05, maximum: 256, description: 'Default CPUs of a sandbox' }),
  memory_mb: amount(512, 32, 1_048_576, 'Default memory of a sandbox in MiB'),
  disk_mb: amount(2048, 64, 1_048_576, 'Default disk of a sandbox in MiB'),
  pids: amount(512, 16, 65_536, 'Default process limit of a sandbox'),
});

const maximumSchema = Type.Object({
  cpu: Type.Number({ default: 4, minimum: 0.05, maximum: 256, description: 'Maximum CPUs of a sandbox' }),
  memory_mb: amount(4096, 32, 1_048_576, 'Maximum memory of a sandbox in MiB'),
  disk_mb: amount(16_384, 64, 1_048_576, 'Maximum disk of a sandbox in MiB'),
  pids: amount(4096, 16, 65_536, 'Maximum process limit of a sandbox'),
  gpus: amount(8, 0, 1024, 'Maximum GPUs of a sandbox, with drivers that offer GPUs'),
});

const sourceSchema = Type.Union([
  Type.Object(
    {
      kind: Type.Literal('registry'),
      reference: Type.String({
        minLength: 1,
        maxLength: 512,
        description: 'Registry image: registry.example/team/app:1.2, or @sha256:… to pin a digest',
      }),
    },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      kind: Type.Literal('debootstrap'),
      suite: Type.String({ pattern: '^[a-z]+$', description: 'Code name of a Debian suite, or host' }),
      packages: Type.Optional(Type.Array(Type.String({ pattern: '^[a-z0-9][a-z0-9+.-]*$' }), { maxItems: 200 })),
    },
    { additionalProperties: false },
  ),
  Type.Object({ kind: Type.Literal('busybox') }, { additionalProperties: false }),
  Type.Object(
    {
      kind: Type.Literal('rootfs_tar'),
      path: Type.String({ pattern: '^/', description: 'Path of the archive on this machine' }),
    },
    { additionalProperties: false },
  ),
]);

const hostPattern = '^[A-Za-z0-9.\\[\\]:-]{1,255}$';

const registrySchema = Type.Object(
  {
    host: Type.String({
      pattern: hostPattern,
      description: 'Registry host as in image references, with its port if any',
    }),
    mirror: Type.Optional(Type.String({ pattern: hostPattern, description: 'Mirror to use instead, such as a cache' })),
    username: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    password: Type.Optional(Type.String({ minLength: 1, maxLength: 32_768, secret: true })),
    ca_file: Type.Optional(Type.String({ pattern: '^/', description: 'CA certificates (PEM) of the registry' })),
    plain_http: Type.Optional(Type.Boolean({ description: 'Use plain HTTP; common only on loopback' })),
  },
  { additionalProperties: false },
);

const imageName = Type.String({ pattern: '^[a-z0-9][a-z0-9.-]{0,63}$' });

const imageSchema = Type.Object(
  {
    name: imageName,
    display_name: Type.Optional(Type.String({ maxLength: 100 })),
    description: Type.Optional(Type.String({ maxLength: 500 })),
    category: Type.Optional(Type.String({ maxLength: 50 })),
    tags: Type.Optional(Type.Array(Type.String({ maxLength: 50 }), { maxItems: 20 })),
    popular: Type.Optional(Type.Boolean()),
    aliases: Type.Optional(Type.Array(imageName, { maxItems: 20 })),
    sources: Type.Array(sourceSchema, { minItems: 1, maxItems: 10 }),
  },
  { additionalProperties: false },
);

const dockerSchema = Type.Object({
  host: Type.String({
    default: 'unix:///var/run/docker.sock',
    pattern: '^(unix:///|tcp://).+',
    maxLength: 300,
    description: 'Docker Engine address: unix:///PATH or tcp://HOST:PORT',
  }),
  ca_file: Type.Optional(Type.String({ pattern: '^/', description: 'CA certificates (PEM) of an engine over TCP' })),
  certificate_file: Type.Optional(
    Type.String({ pattern: '^/', description: 'Client certificate (PEM) for the engine' }),
  ),
  key_file: Type.Optional(Type.String({ pattern: '^/', description: 'Private key (PEM) of the client certificate' })),
  network: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$',
      description:
        'Docker network for sandboxes with egress; its owner must isolate them from each other and from private ' +
        'networks. By default, each sandbox gets its own network',
    }),
  ),
  address_prefix: Type.String({
    default: '100.97',
    pattern: '^(10|100|172|192)\\.[0-9]{1,3}$',
    description: 'First two octets of the IPv4 networks created for sandboxes',
  }),
});

const objectName = '^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$';

const kubernetesSchema = Type.Object({
  kubeconfig: Type.Optional(
    Type.String({
      pattern: '^/',
      maxLength: 500,
      description: "Path of a kubeconfig; by default, the service account of the platform's own pod",
    }),
  ),
  context: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 253,
      description: 'Context of the kubeconfig; defaults to its current one',
    }),
  ),
  namespace: Type.String({
    default: 'svc-sandboxes',
    pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$',
    description: 'Namespace of the pods; must exist and be used for nothing else',
  }),
  helper_image: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 512,
      description: "Image that contains the helper, such as the platform's own; required by this driver",
    }),
  ),
  pull_secret: Type.Optional(
    Type.String({
      pattern: objectName,
      description: 'Secret in the namespace with the credentials for pulling images',
    }),
  ),
  runtime_class: Type.Optional(
    Type.String({ pattern: objectName, description: "RuntimeClass of sandboxes; defaults to the cluster's" }),
  ),
  gvisor_runtime_class: Type.Optional(
    Type.String({ pattern: objectName, description: 'RuntimeClass of sandboxes with isolation gvisor' }),
  ),
  storage_class: Type.Optional(
    Type.String({
      pattern: objectName,
      description:
        'StorageClass of the persistent volume claims with the files of sandboxes; without it, their files are lost with their pods',
    }),
  ),
  gpu_resource: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9.-]{1,253}/[A-Za-z0-9._-]{1,63}$',
      description: 'Extended resource for GPUs, such as nvidia.com/gpu; without it, sandboxes cannot have GPUs',
    }),
  ),
  user_namespaces: Type.Boolean({
    default: true,
    description: 'Whether to map root of a sandbox to another user; false for nodes that do not support hostUsers',
  }),
  denied_networks: Type.Array(Type.String({ pattern: '^[0-9]{1,3}(\\.[0-9]{1,3}){3}/([0-9]|[12][0-9]|3[0-2])$' }), {
    default: [],
    maxItems: 100,
    description:
      'Further IPv4 networks that sandboxes must not reach, such as nodes or an API server with public addresses',
  }),
  network_policies: Type.Union([Type.Literal('verify'), Type.Literal('trust')], {
    default: 'verify',
    description:
      'verify tests at each start whether the cluster enforces network policies and refuses to run sandboxes if not; ' +
      'trust skips the test',
  }),
});

const warmPoolSchema = Type.Object(
  {
    image: imageName,
    min: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 256, description: 'Minimum ready sandboxes; 2 by default' }),
    ),
    max: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 256, description: 'Maximum ready sandboxes; 8 by default' }),
    ),
  },
  { additionalProperties: false },
);

/** The `sandboxes` section of the configuration. */
export const sandboxesConfigSchema = Type.Object({
  driver: Type.Union([Type.Literal('local'), Type.Literal('docker'), Type.Literal('kubernetes')], {
    default: 'local',
    description: 'Where sandboxes run: on this machine, in a Docker Engine, or in a Kubernetes cluster',
  }),
  docker: dockerSchema,
  kubernetes: kubernetesSchema,
  runtime: Type.Union([Type.Literal('auto'), Type.Literal('builtin'), Type.Literal('crun'), Type.Literal('runc')], {
    default: 'auto',
    description: 'Runtime of the local driver: builtin (auto), or the OCI runtime crun or runc',
  }),
  isolation: Type.Union([Type.Literal('auto'), Type.Literal('gvisor'), Type.Literal('namespaces')], {
    default: 'auto',
    description:
      "Default isolation: gvisor (a separate kernel) or namespaces (this machine's kernel; faster); auto " +
      'selects gvisor if runsc works. With gvisor, no sandbox runs with weaker isolation',
  }),
  runsc: Type.Optional(
    Type.String({
      pattern: '^/',
      maxLength: 500,
      description:
        "Path of gVisor's runsc for isolation gvisor on the local driver; defaults to the one in the system's program folders",
    }),
  ),
  max_per_caller: amount(20, 0, 100_000, 'Maximum sandboxes per caller'),
  max_running: amount(
    2000,
    1,
    16_000,
    'Maximum running sandboxes per node; if there are several owners, one can run half of them',
  ),
  drain_notice_seconds: amount(30, 0, 86_400, "Time between the drain notice and the stop of a node's sandboxes"),
  archive_snapshots: Type.Boolean({
    default: true,
    description:
      'Whether to copy snapshots of the drivers local and kubernetes, and the images of templates, to the engine of the ' +
      'object store, so that every replica can use them; requires object_store.engine s3 and PostgreSQL',
  }),
  max_snapshots_per_caller: amount(20, 0, 100_000, 'Maximum snapshots per caller'),
  max_per_guest: amount(1, 0, 1000, 'Maximum sandboxes per guest'),
  guest_lifetime_seconds: amount(900, 60, 86_400, "Time after which a guest's sandbox is deleted"),
  resources: resourcesSchema,
  maximum: maximumSchema,
  volumes: Type.Object({
    size_mb: amount(1024, 64, 16_777_216, 'Default size of a volume in MiB'),
    max_size_mb: amount(102_400, 64, 16_777_216, 'Maximum size of a volume in MiB'),
  }),
  network: Type.Union([Type.Literal('egress'), Type.Literal('none')], {
    default: 'egress',
    description: 'Default network of a sandbox; egress reaches public addresses only',
  }),
  address_prefix: Type.String({
    default: '100.96',
    pattern: '^(10|100|172|192)\\.[0-9]{1,3}$',
    description: "First two octets of the sandboxes' IPv4 addresses with the local driver",
  }),
  nameservers: Type.Array(Type.String({ format: 'ipv4' }), {
    default: [],
    maxItems: 3,
    description: "IPv4 DNS servers of sandboxes; defaults to this machine's",
  }),
  image_cache: Type.Optional(
    Type.String({ pattern: '^/', description: 'Folder for unpacked images; defaults to a folder in the data folder' }),
  ),
  image_registry: Type.String({
    default: 'docker.io',
    pattern: '^$|' + hostPattern,
    description: 'Registry for the built-in images, with their Docker Hub names; empty = no registry',
  }),
  pod_images: Type.Union([Type.Literal('registries'), Type.Literal('platform')], {
    default: 'registries',
    description:
      'From where nodes of Kubernetes pull images that have a registry: from there, or from the platform, which pulls them itself',
  }),
  registries: Type.Array(registrySchema, {
    default: [],
    maxItems: 50,
    description: 'Credentials, mirrors and certificates of registries',
  }),
  image_proxy: Type.Optional(
    Type.String({ pattern: '^http://', maxLength: 500, description: 'HTTP proxy for registries' }),
  ),
  image_max_mb: amount(16_384, 16, 1_048_576, 'Maximum size of a registry image in MiB, compressed or unpacked'),
  warm_pool: Type.Array(warmPoolSchema, {
    default: [],
    maxItems: 20,
    description: 'Images with a pool of ready sandboxes with default resources; the pool size follows demand',
  }),
  prepared_starts: amount(
    2,
    0,
    64,
    'Partly prepared starts that the local driver keeps for sandboxes with the default disk and network, ' +
      'before image and owner are known; 0 = none',
  ),
  default_image: Type.String({ default: 'debian', description: 'Default image in the catalog' }),
  images: Type.Array(imageSchema, {
    default: [],
    maxItems: 200,
    description: 'Additional images; an image with a built-in name replaces the built-in image',
  }),
  allowed_origins: Type.Array(Type.String({ pattern: '^https?://[^/]+$' }), {
    default: [],
    maxItems: 50,
    description: 'Other origins whose pages may open terminals',
  }),
  max_creates_per_minute: amount(120, 1, 1_000_000, 'Sandboxes that one caller can create per minute'),
  max_terminals_per_minute: amount(100, 1, 1_000_000, 'Terminals that one caller can open per minute'),
  preview_domain: Type.String({
    default: 'sandboxes.localhost',
    pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$',
    description: 'Domain that gives each sandbox port a separate hostname; its subdomains must resolve to the platform',
  }),
  max_commands: amount(64, 1, 120, 'Maximum concurrent exec commands per sandbox'),
  max_terminals: amount(64, 1, 200, 'Maximum open terminals and commands per sandbox'),
  templates: Type.Object({
    max_minutes: amount(60, 1, 1440, 'Maximum time of a template build'),
    max_files_mb: amount(1024, 1, 1_048_576, 'Maximum size in MiB of one archive of files for a build'),
    max_workspace_files_mb: amount(4096, 1, 1_048_576, 'Maximum size in MiB of all archives of a workspace on a node'),
    kept_days: amount(7, 1, 3650, 'Days that unused layers of builds, and uploaded files, are kept as a cache'),
  }),
  ssh: Type.Object({
    port: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 65_535,
        description: 'Port of the SSH listener for sandboxes; off by default, 0 = any free port',
      }),
    ),
    max_connections: amount(
      1000,
      1,
      100_000,
      'Maximum SSH connections per replica; an owner can hold half of them, one workspace a third',
    ),
  }),
  events: Type.Object({
    kept_days: amount(7, 1, 3650, 'Days that sandbox events are kept'),
    kept_per_workspace: amount(
      10_000,
      100,
      10_000_000,
      'Maximum events kept per workspace; the oldest are removed first',
    ),
    max_streams: amount(64, 1, 10_000, 'Maximum open event streams per workspace and replica'),
  }),
  webhooks: Type.Object({
    allowed_networks: Type.Array(Type.String(), {
      default: [],
      maxItems: 1_000,
      description:
        'Non-public networks that webhooks of sandbox events may reach, such as 10.0.0.0/8. Every admin of a ' +
        'workspace can reach them',
    }),
    timeout_seconds: amount(10, 1, 20, 'Timeout of one delivery'),
    retry_seconds: amount(
      5,
      1,
      3600,
      'First delay before a failed event is sent again; the delay doubles with each attempt, up to an hour',
    ),
    give_up_seconds: amount(86_400, 1, 31_536_000, 'Age at which an undelivered event is dropped'),
    disable_after_seconds: amount(
      259_200,
      1,
      31_536_000,
      'Time of failures without a success after which a webhook is disabled',
    ),
  }),
  metrics: Type.Object({
    sample_every_seconds: amount(10, 1, 3600, 'Interval between resource measurements of running sandboxes'),
    kept_seconds: amount(7200, 60, 2_592_000, 'How long measurements are kept'),
  }),
});

export type SandboxesConfig = Static<typeof sandboxesConfigSchema>;
