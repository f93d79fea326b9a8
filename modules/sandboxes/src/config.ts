import { type Static, Type } from 'typebox';

const amount = (value: number, minimum: number, maximum: number, description: string) =>
  Type.Integer({ default: value, minimum, maximum, description });

const resourcesSchema = Type.Object({
  cpu: Type.Number({ default: 1, minimum: 0.05, maximum: 256, description: 'CPUs of a sandbox that asks for none' }),
  memory_mb: amount(512, 32, 1_048_576, 'Memory in MiB of a sandbox that asks for none'),
  disk_mb: amount(2048, 64, 1_048_576, 'Disk in MiB of a sandbox that asks for none'),
  pids: amount(512, 16, 65_536, 'Processes of a sandbox that asks for none'),
});

const maximumSchema = Type.Object({
  cpu: Type.Number({ default: 4, minimum: 0.05, maximum: 256, description: 'Most CPUs that a sandbox may ask for' }),
  memory_mb: amount(4096, 32, 1_048_576, 'Most memory in MiB that a sandbox may ask for'),
  disk_mb: amount(16_384, 64, 1_048_576, 'Most disk in MiB that a sandbox may ask for'),
  pids: amount(4096, 16, 65_536, 'Most processes that a sandbox may ask for'),
});

const sourceSchema = Type.Union([
  Type.Object(
    {
      kind: Type.Literal('registry'),
      reference: Type.String({
        minLength: 1,
        maxLength: 512,
        description: 'Image of a registry: registry.example/team/app:1.2, or @sha256:… for exactly this one',
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
    { kind: Type.Literal('rootfs_tar'), path: Type.String({ pattern: '^/', description: 'Archive on this machine' }) },
    { additionalProperties: false },
  ),
]);

const hostPattern = '^[A-Za-z0-9.\\[\\]:-]{1,255}$';

const registrySchema = Type.Object(
  {
    host: Type.String({ pattern: hostPattern, description: 'As references have it, with a port where there is one' }),
    mirror: Type.Optional(Type.String({ pattern: hostPattern, description: 'Asked in its place, such as a cache' })),
    username: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    password: Type.Optional(Type.String({ minLength: 1, maxLength: 32_768, secret: true })),
    ca_file: Type.Optional(Type.String({ pattern: '^/', description: 'Certificates (PEM) that it is trusted by' })),
    plain_http: Type.Optional(Type.Boolean({ description: 'Without TLS; usual on loopback only' })),
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
    description: 'The Docker Engine: unix:///PATH or tcp://HOST:PORT',
  }),
  ca_file: Type.Optional(Type.String({ pattern: '^/', description: 'Certificates (PEM) that an engine over tcp has' })),
  certificate_file: Type.Optional(Type.String({ pattern: '^/', description: 'Certificate (PEM) that it knows us by' })),
  key_file: Type.Optional(Type.String({ pattern: '^/', description: 'Private key (PEM) of that certificate' })),
  network: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$',
      description:
        'Network of the engine for sandboxes with egress, whose owner keeps them apart and away from private networks; by default each has one of its own',
    }),
  ),
  address_prefix: Type.String({
    default: '100.97',
    pattern: '^(10|100|172|192)\\.[0-9]{1,3}$',
    description: 'First half of the IPv4 addresses of the networks that are made for sandboxes',
  }),
});
const warmPoolSchema = Type.Object(
  {
    image: imageName,
    min: Type.Optional(Type.Integer({ minimum: 1, maximum: 256, description: 'As many wait at least; 2 by default' })),
    max: Type.Optional(Type.Integer({ minimum: 1, maximum: 256, description: 'As many wait at most; 8 by default' })),
  },
  { additionalProperties: false },
);

/** The `sandboxes` section of the configuration. */
export const sandboxesConfigSchema = Type.Object({
  driver: Type.Union([Type.Literal('local'), Type.Literal('docker')], {
    default: 'local',
    description: 'Where sandboxes run: on this machine, or in a Docker Engine',
  }),
  docker: dockerSchema,
  runtime: Type.Union([Type.Literal('auto'), Type.Literal('builtin'), Type.Literal('crun'), Type.Literal('runc')], {
    default: 'auto',
    description: 'What makes sandboxes of the local driver: builtin (auto), or an OCI runtime, crun or runc',
  }),
  isolation: Type.Union([Type.Literal('auto'), Type.Literal('gvisor'), Type.Literal('namespaces')], {
    default: 'auto',
    description:
      "What sandboxes are isolated by that ask for nothing: gvisor, a kernel of its own, or namespaces of this machine's kernel, which are faster; auto is gvisor where runsc works. With gvisor no sandbox gets less",
  }),
  runsc: Type.Optional(
    Type.String({
      pattern: '^/',
      maxLength: 500,
      description:
        "gVisor's runtime for isolation gvisor on the local driver; found among the system's programs by default",
    }),
  ),
  max_per_caller: amount(20, 0, 100_000, 'Sandboxes that one caller may have'),
  max_running: amount(2000, 1, 16_000, 'Sandboxes that run on one node at once'),
  max_snapshots_per_caller: amount(20, 0, 100_000, 'Snapshots that one caller may have'),
  max_per_guest: amount(1, 0, 1000, 'Sandboxes that one guest may have'),
  guest_lifetime_seconds: amount(900, 60, 86_400, 'A sandbox of a guest is deleted after this long'),
  resources: resourcesSchema,
  maximum: maximumSchema,
  network: Type.Union([Type.Literal('egress'), Type.Literal('none')], {
    default: 'egress',
    description: 'Network of a sandbox that asks for none; egress reaches public addresses only',
  }),
  address_prefix: Type.String({
    default: '100.96',
    pattern: '^(10|100|172|192)\\.[0-9]{1,3}$',
    description: 'First half of the IPv4 addresses that the local driver gives to sandboxes',
  }),
  nameservers: Type.Array(Type.String({ format: 'ipv4' }), {
    default: [],
    maxItems: 3,
    description: 'IPv4 resolvers of sandboxes; those of this machine when empty',
  }),
  image_cache: Type.Optional(
    Type.String({ pattern: '^/', description: 'Folder of unpacked images; inside the data folder by default' }),
  ),
  image_registry: Type.String({
    default: 'docker.io',
    pattern: '^$|' + hostPattern,
    description: 'Registry of the built-in images, with their Docker Hub names; empty = none is asked',
  }),
  registries: Type.Array(registrySchema, {
    default: [],
    maxItems: 50,
    description: 'How registries are reached: credentials, mirrors, certificates',
  }),
  image_proxy: Type.Optional(
    Type.String({ pattern: '^http://', maxLength: 500, description: 'HTTP proxy on the way to registries' }),
  ),
  image_max_mb: amount(16_384, 16, 1_048_576, 'Most MiB that an image of a registry may have, compressed or unpacked'),
  warm_pool: Type.Array(warmPoolSchema, {
    default: [],
    maxItems: 20,
    description: 'Images of which sandboxes with the default resources wait ready; how many goes with their use',
  }),
  prepared_starts: amount(
    2,
    0,
    64,
    'Starts that the local driver makes ahead by half, without image or owner, for sandboxes with the default disk and network; 0 = none',
  ),
  default_image: Type.String({ default: 'debian', description: 'The image that the catalog marks as default' }),
  images: Type.Array(imageSchema, {
    default: [],
    maxItems: 200,
    description: 'Further images, or others in the place of built-in ones of the same name',
  }),
  allowed_origins: Type.Array(Type.String({ pattern: '^https?://[^/]+$' }), {
    default: [],
    maxItems: 50,
    description: 'Origins besides our own whose pages may open terminals',
  }),
  max_creates_per_minute: amount(120, 1, 1_000_000, 'Sandboxes that one caller may make in a minute'),
  max_terminals_per_minute: amount(100, 1, 1_000_000, 'Terminals that one caller may open in a minute'),
  preview_domain: Type.String({
    default: 'sandboxes.localhost',
    pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$',
    description: 'Domain below which each port of a sandbox has a name of its own; its names lead to the platform',
  }),
  max_commands: amount(64, 1, 120, 'Commands of the exec route that run in one sandbox at once'),
  max_terminals: amount(64, 1, 200, 'Open terminals and commands of one sandbox'),
  events: Type.Object({
    kept_days: amount(7, 1, 3650, 'Events of sandboxes are kept this long'),
    kept_per_workspace: amount(10_000, 100, 10_000_000, 'Most events that are kept of a workspace; the oldest go'),
    max_streams: amount(64, 1, 10_000, 'Event streams that a workspace may have open on one replica'),
  }),
  metrics: Type.Object({
    sample_every_seconds: amount(10, 1, 3600, 'How often the use of running sandboxes is measured'),
    kept_seconds: amount(7200, 60, 2_592_000, 'Samples are kept this long'),
  }),
});

export type SandboxesConfig = Static<typeof sandboxesConfigSchema>;
