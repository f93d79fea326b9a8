import { Type } from 'typebox';

/** Configures how the store's key-encryption keys are wrapped. */
export const keyServiceConfigSchema = Type.Object(
  {
    kind: Type.Union([Type.Literal('local'), Type.Literal('vault-transit')], {
      default: 'local',
      description: 'Service that wraps the key ring: the master key (local), or the transit engine of Vault or OpenBao',
    }),
    cache_seconds: Type.Integer({
      minimum: 1,
      maximum: 86_400,
      default: 3_600,
      description:
        'How long an unwrapped key is cached in memory; requests survive an outage of the key service for this long',
    }),
    vault: Type.Object(
      {
        address: Type.Optional(Type.String({ pattern: '^https?://', description: 'Base URL of Vault or OpenBao' })),
        token: Type.Optional(
          Type.String({
            secret: true,
            env: 'SVC_VAULT_TOKEN',
            description: 'Token with permission to encrypt and decrypt with the key',
          }),
        ),
        token_path: Type.Optional(
          Type.String({ description: 'File with the token, read on each call so that an agent can renew it' }),
        ),
        mount: Type.String({ default: 'transit', minLength: 1, description: 'Mount path of the transit engine' }),
        key: Type.String({ default: 'svc', minLength: 1, description: 'Name of the transit key' }),
        namespace: Type.Optional(Type.String({ minLength: 1, description: 'Namespace of the transit engine' })),
        ca_file: Type.Optional(Type.String({ description: 'CA certificates (PEM) for the address' })),
        timeout_seconds: Type.Integer({ minimum: 1, default: 5, description: 'Timeout of one request' }),
      },
      { default: {}, additionalProperties: false, description: 'With `vault-transit`' },
    ),
  },
  { default: {}, additionalProperties: false, description: 'Key service that wraps the key ring' },
);
