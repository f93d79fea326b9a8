import { type Static, Type } from 'typebox';

const seconds = (value: number, minimum: number, description: string) =>
  Type.Integer({ default: value, minimum, maximum: 366 * 86_400, description });
const count = (value: number, description: string) =>
  Type.Integer({ default: value, minimum: 1, maximum: 1_000_000, description });

const passwordSchema = Type.Object({
  memory_kib: Type.Integer({
    default: 19_456,
    minimum: 8,
    maximum: 4_194_304,
    description: 'Memory that hashing one password takes (argon2id); stored hashes follow at the next sign-in',
  }),
  passes: Type.Integer({ default: 2, minimum: 1, maximum: 100, description: 'Passes of argon2id' }),
  parallelism: Type.Integer({ default: 1, minimum: 1, maximum: 16, description: 'Lanes of argon2id' }),
});

const sessionSchema = Type.Object({
  lifetime_seconds: seconds(30 * 86_400, 60, 'A sign-in ends after this long'),
  idle_seconds: seconds(7 * 86_400, 60, 'A sign-in that nobody used for this long ends'),
  max_per_user: count(100, 'Sign-ins of one user at a time; the oldest ends first'),
});

const throttleSchema = Type.Object({
  address_burst: count(20, 'Failed sign-ins from one address at once'),
  address_per_minute: count(10, 'Failed sign-ins from one address that are forgotten in a minute'),
  account_burst: count(100, 'Failed sign-ins to one account, from unknown browsers of all addresses, at once'),
  account_per_minute: count(5, 'Failed sign-ins to one account that are forgotten in a minute'),
  free_failures: count(5, 'Failures on one account from one address before each further one must wait'),
  max_delay_seconds: seconds(900, 1, 'Longest wait after many failures; it starts at one second and doubles'),
});

const guestSchema = Type.Object({
  enabled: Type.Boolean({
    default: false,
    description: 'Whether anybody may sign in as a guest',
  }),
  token_lifetime_seconds: Type.Integer({
    default: 3600,
    minimum: 60,
    maximum: 86_400,
    description: 'A guest and all that is his ends after this long',
  }),
  max_active: count(100, 'Guests at a time'),
  per_minute: count(5, 'Guest sign-ins from one address in a minute'),
  sandboxes: count(1, 'Sandboxes that one guest may have, as the sign-in answers it'),
});

const issuerSchema = Type.Object(
  {
    issuer: Type.String({ minLength: 1, maxLength: 512, description: 'The exact `iss` of its tokens' }),
    audience: Type.String({ minLength: 1, maxLength: 512, description: 'The `aud` that its tokens for us carry' }),
    jwks_url: Type.String({
      // Keys fetched over a plain connection could be forged.
      pattern: '^(https://|http://(localhost|127\\.0\\.0\\.1|\\[::1\\])[:/])',
      maxLength: 2048,
      description: 'Where its public keys stand; https, or http on this machine',
    }),
    email_claim: Type.String({ default: 'email', minLength: 1, description: 'Claim that holds the e-mail' }),
    require_verified_email: Type.Boolean({
      default: true,
      description: 'Believe the e-mail only with `email_verified: true`',
    }),
    auto_create: Type.Boolean({ default: false, description: 'Make a user for an e-mail that has none' }),
  },
  { additionalProperties: false },
);

const limitsSchema = Type.Object({
  api_tokens_per_user: count(200, 'API tokens of one user'),
  service_accounts_per_workspace: count(200, 'Service accounts of one workspace'),
  teams_per_owner: count(100, 'Teams that one user owns'),
  members_per_team: count(1_000, 'Members of one team'),
  open_invitations_per_team: count(200, 'Open invitations of one team'),
  workspaces_per_owner: count(100, 'Workspaces that one user owns'),
});

/** The `accounts` section of the platform's configuration. */
export const accountsConfigSchema = Type.Object({
  issuer: Type.String({ default: 'svc', minLength: 1, maxLength: 512, description: 'The `iss` of our own tokens' }),
  access_token_lifetime_seconds: Type.Integer({
    default: 3600,
    minimum: 60,
    maximum: 86_400,
    description: 'Lifetime of the access token that a sign-in answers',
  }),
  password: passwordSchema,
  session: sessionSchema,
  throttle: throttleSchema,
  guest: guestSchema,
  trusted_issuers: Type.Array(issuerSchema, {
    default: [],
    maxItems: 16,
    description: 'OpenID Connect issuers whose tokens are accepted',
  }),
  limits: limitsSchema,
  audit_retention_days: Type.Integer({
    default: 365,
    minimum: 0,
    maximum: 36_500,
    description: 'Audit records that are older go; 0 keeps them for ever',
  }),
});

export type AccountsConfig = Static<typeof accountsConfigSchema>;
