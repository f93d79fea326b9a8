import { Type } from 'typebox';

/** Configures how the store's key-encryption keys are wrapped. */
export const keyServiceConfigSchema = Type.Object(
  {
    kind: Type.Union([Type.Literal('local'), Type.Literal('vault-transit')], {
      default: 'local',
      description: 'What wraps the key ring: the master key, or the transit engine of Vault or OpenBao.',
    }),
    cache_seconds: Type.Integer({
      minimum: 1,
      maximum: 86_400,
      default: 3_600,
      description: 'How long an unwrapped key is kept in memory, and so how long a key service may be away unnoticed.',
    }),
    vault: Type.Object(
      {
        address: Type.Optional(Type.String({ pattern: '^https?://', description: 'Base URL of Vault or OpenBao.' })),
        token: Type.Optional(
          Type.String({
            secret: true,
            env: 'SVC_VAULT_TOKEN',
            description: 'Token that may encrypt and decrypt with the key.',
          }),
        ),
        token_path: Type.Optional(
          Type.String({ description: 'File with the token, read for each call: an agent may renew it.' }),
        ),
        mount: Type.String({ default: 'transit', minLength: 1, description: 'Where the transit engine is mounted.' }),
        key: Type.String({ default: 'svc', minLength: 1, description: 'Name of the transit key.' }),
        namespace: Type.Optional(Type.String({ minLength: 1, description: 'Namespace of the engine.' })),
        ca_file: Type.Optional(Type.String({ description: 'PEM file of the authorities that vouch for the address.' })),
        timeout_seconds: Type.Integer({ minimum: 1, default: 5, description: 'Longest wait for one answer.' }),
      },
      { default: {}, additionalProperties: false, description: 'With `vault-transit`.' },
    ),
  },
  { default: {}, additionalProperties: false, description: 'Who wraps the key ring.' },
);
