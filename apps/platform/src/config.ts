import { accountsConfigSchema } from '@svc/accounts';
import { clustersConfigSchema } from '@svc/clusters';
import { objectStoreConfigSchema } from '@svc/object-store';
import { quotasConfigSchema } from '@svc/quotas/config-schema';
import { sandboxesConfigSchema } from '@svc/sandboxes';
import { Type, type Static } from 'typebox';
import { quotaCatalogue } from './quota-catalogue.ts';
import { SERVICE_NAMES } from './service-names.ts';

const port = (value: number, description: string) =>
  Type.Integer({ default: value, minimum: 0, maximum: 65_535, description });

const databaseSchema = Type.Object({
  url: Type.Optional(
    Type.String({
      secret: true,
      pattern: '^postgres(ql)?://',
      description:
        'PostgreSQL connection URL, with one server or several in the order in which they are tried: ' +
        '`postgres://user:password@first:5432,second:5432/svc?target_session_attrs=read-write`. ' +
        'Defaults to SQLite in the data folder',
    }),
  ),
  max_connections: Type.Integer({
    default: 10,
    minimum: 1,
    maximum: 1000,
    description: 'Maximum connections to PostgreSQL',
  }),
  connect_timeout_seconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 300,
      description:
        'Time for a PostgreSQL server to accept a connection before the next one in the URL is tried; ' +
        'defaults to `connect_timeout` of the URL, otherwise to 5',
    }),
  ),
  silence_seconds: Type.Integer({
    default: 10,
    minimum: 1,
    maximum: 3600,
    description:
      'Time that a statement waits without an answer before a second connection asks PostgreSQL whether it still runs; ' +
      'if not, or without an answer, the first connection is closed',
  }),
});

const tlsSchema = Type.Object({
  cert_file: Type.Optional(
    Type.String({ description: 'Certificate chain (PEM); defaults to a certificate from the local authority' }),
  ),
  key_file: Type.Optional(Type.String({ description: 'Private key (PEM) for cert_file' })),
  hsts_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 63_072_000,
      description:
        'Max age of the Strict-Transport-Security header. Defaults to one year with cert_file if http is ' +
        'redirect or off, otherwise to no header; 0 = no header',
    }),
  ),
  http2: Type.Boolean({
    default: true,
    description: 'Whether the API and console offer HTTP/2 to TLS clients, besides HTTP/1.1',
  }),
});

const metricsSchema = Type.Object({
  port: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65_535,
      description: 'Port of a listener for `/metrics` only; requires no credentials unless metrics.token is set',
    }),
  ),
  host: Type.String({ default: '127.0.0.1', minLength: 1, description: 'Address of the metrics listener' }),
  token: Type.Optional(
    Type.String({
      secret: true,
      minLength: 16,
      maxLength: 256,
      pattern: '^[!-~]+$',
      description: 'Bearer token for scrapers; without one, `/metrics` on the API port requires an operator',
    }),
  ),
});

const internalSchema = Type.Object({
  listen: Type.Optional(
    Type.String({
      pattern: '^(off|(\\[.+\\]|[^:]+):\\d{1,5})$',
      description:
        'Address and port on which other replicas reach this one with TLS, such as `10.0.0.5:4300`; port 0 = any free ' +
        'port. Defaults to a free port of `host` with PostgreSQL; `off` = requests are not forwarded. Never used with SQLite',
    }),
  ),
  advertise_url: Type.Optional(
    Type.String({
      pattern: '^https://[^/]+$',
      description:
        'URL at which other replicas reach `internal.listen`; defaults to its address, or to the first address of this ' +
        'machine if it listens on all',
    }),
  ),
});

const shutdownSchema = Type.Object({
  lame_duck_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 300,
      description:
        'Time after SIGTERM in which requests are still served while `/readyz` fails; must be longer than the health ' +
        'check of a proxy needs. Defaults to 5 with PostgreSQL, otherwise to 0',
    }),
  ),
  drain_seconds: Type.Integer({
    default: 3,
    minimum: 0,
    maximum: 3600,
    description: 'Time for open requests to finish at shutdown; the rest are cut off',
  }),
});

const logSchema = Type.Object({
  level: Type.Union(
    [Type.Literal('debug'), Type.Literal('info'), Type.Literal('warn'), Type.Literal('error'), Type.Literal('silent')],
    { default: 'info', env: 'LOG_LEVEL', description: 'Minimum level of log lines written to standard error' },
  ),
  format: Type.Union([Type.Literal('auto'), Type.Literal('json'), Type.Literal('pretty')], {
    default: 'auto',
    env: 'LOG_FORMAT',
    description: 'json, pretty (for people), or auto: pretty on a terminal, otherwise json',
  }),
});

const ownerSchema = Type.Object({
  email: Type.String({
    default: 'owner@localhost',
    description: 'Email address of the owner account created on first start',
  }),
  password: Type.Optional(
    Type.String({
      secret: true,
      minLength: 8,
      maxLength: 1024,
      description: 'Password of the owner account; generated by default',
    }),
  ),
});

/** The complete configuration: `svc config schema` prints it, and `docs/configuration.md` is generated from it. */
export const platformConfigSchema = Type.Object({
  data: Type.String({ default: './data', minLength: 1, description: 'Data folder' }),
  host: Type.String({ default: '127.0.0.1', minLength: 1, description: 'Address that all listeners bind to' }),
  port: port(4000, 'Port of the API and console; 0 = any free port'),
  http: Type.Union([Type.Literal('serve'), Type.Literal('redirect'), Type.Literal('off')], {
    default: 'serve',
    description:
      'Plain HTTP on `port`: `serve`, `redirect` (redirects browsers to TLS and refuses all other requests) or ' +
      '`off` (no listener)',
  }),
  https_port: port(4443, 'TLS port of the API and console; 0 = any free port'),
  s3_port: port(9000, 'Port of the S3 API; 0 = any free port'),
  s3_https_port: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65_535,
      description: 'TLS port of the S3 API; off by default, 0 = any free port',
    }),
  ),
  public_url: Type.Optional(
    Type.String({
      pattern: '^https?://[^/]+$',
      description: 'Public URL of the API and console behind a proxy',
    }),
  ),
  s3_public_url: Type.Optional(
    Type.String({
      pattern: '^https?://[^/]+$',
      description: 'Public URL of the S3 API behind a proxy',
    }),
  ),
  trusted_proxies: Type.Array(Type.String(), {
    default: [],
    maxItems: 64,
    description: 'Proxy addresses or networks whose X-Forwarded-For header is trusted; their connections have no share',
  }),
  max_connections: Type.Integer({
    default: 20_000,
    minimum: 100,
    maximum: 1_000_000,
    description:
      'Maximum connections of each HTTP and S3 listener, and requests in progress over HTTP/2. One address can hold a ' +
      'third of them and its network half, except for trusted_proxies',
  }),
  services: Type.Array(
    Type.Union([Type.Literal('clusters'), Type.Literal('object-store'), Type.Literal('sandboxes')]),
    {
      default: [...SERVICE_NAMES],
      description: 'Services that this process runs',
    },
  ),
  disk_reserve_mb: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 16_777_216,
      description:
        'Free disk space in MiB of the data folder reserved from uploads, sandboxes, snapshots and images; ' +
        'defaults to 5 % of the disk, at least 1 GiB, at most 20 GiB and at most a quarter of the disk',
    }),
  ),
  database: databaseSchema,
  tls: tlsSchema,
  metrics: metricsSchema,
  internal: internalSchema,
  shutdown: shutdownSchema,
  log: logSchema,
  owner: ownerSchema,
  accounts: accountsConfigSchema,
  clusters: clustersConfigSchema,
  object_store: objectStoreConfigSchema,
  sandboxes: sandboxesConfigSchema,
  quotas: quotasConfigSchema(quotaCatalogue),
});

export type PlatformConfig = Static<typeof platformConfigSchema>;
