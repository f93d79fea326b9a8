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
    description: 'Memory for hashing one password (argon2id); existing hashes are updated at the next sign-in',
  }),
  passes: Type.Integer({ default: 2, minimum: 1, maximum: 100, description: 'Number of argon2id passes' }),
  parallelism: Type.Integer({ default: 1, minimum: 1, maximum: 16, description: 'Number of argon2id lanes' }),
});

const sessionSchema = Type.Object({
  lifetime_seconds: seconds(30 * 86_400, 60, 'Maximum lifetime of a session'),
  idle_seconds: seconds(7 * 86_400, 60, 'Idle time after which a session ends'),
  max_per_user: count(100, 'Maximum sessions per user; a new sign-in ends the oldest'),
});

const throttleSchema = Type.Object({
  address_burst: count(20, 'Burst of failed sign-ins allowed from one address'),
  address_per_minute: count(10, 'Failed sign-ins from one address that expire per minute'),
  account_burst: count(
    100,
    'Burst of failed sign-ins allowed to one account from unknown browsers, across all addresses',
  ),
  account_per_minute: count(5, 'Failed sign-ins to one account that expire per minute'),
  free_failures: count(5, 'Failed sign-ins to one account from one address before further attempts are delayed'),
  max_delay_seconds: seconds(900, 1, 'Maximum delay after failed sign-ins; delays start at one second and double'),
});

const guestSchema = Type.Object({
  enabled: Type.Boolean({
    default: false,
    description: 'Allow guest sign-in without an account',
  }),
  token_lifetime_seconds: Type.Integer({
    default: 3600,
    minimum: 60,
    maximum: 86_400,
    description: 'Lifetime of a guest and its resources',
  }),
  max_active: count(100, 'Maximum guests at a time; one address can hold a third of them and its network half'),
  per_minute: count(5, 'Guest sign-ins from one address per minute'),
  sandboxes: count(1, 'Sandbox limit that the guest sign-in response shows'),
});

const issuerSchema = Type.Object(
  {
    issuer: Type.String({ minLength: 1, maxLength: 512, description: 'Exact `iss` claim of its tokens' }),
    audience: Type.String({ minLength: 1, maxLength: 512, description: '`aud` claim of its tokens for this platform' }),
    jwks_url: Type.String({
      // Keys fetched over a plain connection could be forged.
      pattern: '^(https://|http://(localhost|127\\.0\\.0\\.1|\\[::1\\])[:/])',
      maxLength: 2048,
      description: 'URL of its public keys; https, or http on this machine',
    }),
    email_claim: Type.String({ default: 'email', minLength: 1, description: 'Claim with the email address' }),
    require_verified_email: Type.Boolean({
      default: true,
      description: 'Require `email_verified: true`',
    }),
    auto_create: Type.Boolean({ default: false, description: 'Create a user if none has the email address' }),
  },
  { additionalProperties: false },
);

const limitsSchema = Type.Object({
  api_tokens_per_user: count(200, 'Maximum API tokens per user'),
  ssh_keys_per_user: count(100, 'Maximum SSH keys per user'),
  service_accounts_per_workspace: count(200, 'Maximum service accounts per workspace'),
  teams_per_owner: count(100, 'Maximum teams owned by one user'),
  members_per_team: count(1_000, 'Maximum members per team'),
  open_invitations_per_team: count(200, 'Maximum open invitations per team'),
  workspaces_per_owner: count(100, 'Maximum workspaces owned by one user'),
});

/** The `accounts` section of the platform's configuration. */
export const accountsConfigSchema = Type.Object({
  issuer: Type.String({
    default: 'svc',
    minLength: 1,
    maxLength: 512,
    description: "`iss` claim of the platform's tokens",
  }),
  access_token_lifetime_seconds: Type.Integer({
    default: 3600,
    minimum: 60,
    maximum: 86_400,
    description: 'Lifetime of access tokens issued at sign-in',
  }),
  password: passwordSchema,
  session: sessionSchema,
  throttle: throttleSchema,
  guest: guestSchema,
  trusted_issuers: Type.Array(issuerSchema, {
    default: [],
    maxItems: 16,
    description: 'Trusted OpenID Connect issuers',
  }),
  limits: limitsSchema,
  audit_retention_days: Type.Integer({
    default: 365,
    minimum: 0,
    maximum: 36_500,
    description: 'Days that audit records are kept; 0 = forever',
  }),
});

export type AccountsConfig = Static<typeof accountsConfigSchema>;
