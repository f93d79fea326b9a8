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
      description: 'PostgreSQL to use instead of SQLite in the data folder',
    }),
  ),
  max_connections: Type.Integer({
    default: 10,
    minimum: 1,
    maximum: 1000,
    description: 'Most connections to PostgreSQL',
  }),
});

const tlsSchema = Type.Object({
  cert_file: Type.Optional(
    Type.String({ description: 'Certificate chain (PEM) instead of the one of the local authority' }),
  ),
  key_file: Type.Optional(Type.String({ description: 'Private key (PEM) of cert_file' })),
  hsts_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 63_072_000,
      description:
        'How long browsers shall insist on TLS (Strict-Transport-Security). By default a year with cert_file when http is ' +
        'redirect or off, else not at all; 0 = not at all',
    }),
  ),
});

const metricsSchema = Type.Object({
  port: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65_535,
      description: 'A listener for `/metrics` alone; open to whoever reaches it, unless metrics.token is set',
    }),
  ),
  host: Type.String({ default: '127.0.0.1', minLength: 1, description: 'Address of that listener' }),
  token: Type.Optional(
    Type.String({
      secret: true,
      minLength: 16,
      maxLength: 256,
      pattern: '^[!-~]+$',
      description: 'Bearer token of scrapers; without one `/metrics` beside the API answers operators alone',
    }),
  ),
});

const logSchema = Type.Object({
  level: Type.Union(
    [Type.Literal('debug'), Type.Literal('info'), Type.Literal('warn'), Type.Literal('error'), Type.Literal('silent')],
    { default: 'info', env: 'LOG_LEVEL', description: 'Least severe lines that are written to standard error' },
  ),
  format: Type.Union([Type.Literal('auto'), Type.Literal('json'), Type.Literal('pretty')], {
    default: 'auto',
    env: 'LOG_FORMAT',
    description: 'json, pretty (for people), or auto: pretty on a terminal and json anywhere else',
  }),
});

const ownerSchema = Type.Object({
  email: Type.String({ default: 'owner@localhost', description: 'E-mail of the owner who is made on first start' }),
  password: Type.Optional(
    Type.String({
      secret: true,
      minLength: 8,
      maxLength: 1024,
      description: 'Password of that owner; generated when absent',
    }),
  ),
});

/** The complete configuration: `svc config schema` prints it, and `docs/configuration.md` is generated from it. */
export const platformConfigSchema = Type.Object({
  data: Type.String({ default: './data', minLength: 1, description: 'Folder for everything that is kept' }),
  host: Type.String({ default: '127.0.0.1', minLength: 1, description: 'Address that all listeners open' }),
  port: port(4000, 'API and console; 0 = any free one'),
  http: Type.Union([Type.Literal('serve'), Type.Literal('redirect'), Type.Literal('off')], {
    default: 'serve',
    description: 'Plain HTTP on `port`: `redirect` sends browsers to TLS and refuses all else, `off` opens no port',
  }),
  https_port: port(4443, 'The same with TLS; 0 = any free one'),
  s3_port: port(9000, 'S3 data plane; 0 = any free one'),
  s3_https_port: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 65_535,
      description: 'The S3 data plane with TLS; absent: off, 0 = any free one',
    }),
  ),
  public_url: Type.Optional(
    Type.String({
      pattern: '^https?://[^/]+$',
      description: 'Where users reach the API and console, when a proxy stands before it',
    }),
  ),
  s3_public_url: Type.Optional(
    Type.String({
      pattern: '^https?://[^/]+$',
      description: 'Where S3 clients reach the data plane, when a proxy stands before it',
    }),
  ),
  trusted_proxies: Type.Array(Type.String(), {
    default: [],
    maxItems: 64,
    description: 'Addresses or networks whose X-Forwarded-For is believed',
  }),
  services: Type.Array(
    Type.Union([Type.Literal('clusters'), Type.Literal('object-store'), Type.Literal('sandboxes')]),
    {
      default: [...SERVICE_NAMES],
      description: 'The services that this process runs',
    },
  ),
  disk_reserve_mb: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 16_777_216,
      description:
        'Free space in MiB on the disk of the data folder that no upload, sandbox, snapshot or image may take; by default 5 % of the disk, at least 1 GiB, at most 20 GiB and at most a quarter of it',
    }),
  ),
  database: databaseSchema,
  tls: tlsSchema,
  metrics: metricsSchema,
  log: logSchema,
  owner: ownerSchema,
  accounts: accountsConfigSchema,
  clusters: clustersConfigSchema,
  object_store: objectStoreConfigSchema,
  sandboxes: sandboxesConfigSchema,
  quotas: quotasConfigSchema(quotaCatalogue),
});

export type PlatformConfig = Static<typeof platformConfigSchema>;
