/** Credentials of the API. SSH keys and access keys open no route of it. */
export const CREDENTIALS = [
  'JWT',
  'session cookie',
  'OIDC token',
  'API token',
  "operator's API token",
  'service account',
  'E2B key',
  'guest sign-in',
] as const;
export type CredentialKind = (typeof CREDENTIALS)[number];

/** What is lost: the credential itself, or its access to the workspace. */
export type Ends = 'credential' | 'workspace';

/** A way to take a credential or its rights away, and each credential's case: `case`, or why there is none. */
export interface Row {
  readonly ends: Ends;
  readonly cells: Readonly<Record<CredentialKind, string>>;
}

const CASE = 'case';
const OF_USERS = { JWT: CASE, 'session cookie': CASE, 'OIDC token': CASE, 'API token': CASE } as const;
const AS_ANY_TOKEN = { "operator's API token": 'is an API token like any other in a workspace' } as const;
const OF_WORKSPACE = 'belongs to the workspace, whoever created it';
const NO_SIGN_IN = 'is no sign-in: it is revoked by itself';
const NOT_BY_TOKEN = 'is the result of a sign-in, which no token can make';
/** What happens to a member and the team leaves alone what belongs to the workspace. */
const OF_MEMBERS: Row = {
  ends: 'workspace',
  cells: {
    ...OF_USERS,
    ...AS_ANY_TOKEN,
    'service account': OF_WORKSPACE,
    'E2B key': OF_WORKSPACE,
    'guest sign-in': 'belongs to no team',
  },
};
const OF_SIGN_INS = {
  'API token': NO_SIGN_IN,
  "operator's API token": NO_SIGN_IN,
  'service account': NO_SIGN_IN,
  'E2B key': NO_SIGN_IN,
} as const;
const OF_MAKERS: Row = {
  ends: 'credential',
  cells: {
    JWT: NOT_BY_TOKEN,
    'session cookie': NOT_BY_TOKEN,
    'OIDC token': NOT_BY_TOKEN,
    'API token': NOT_BY_TOKEN,
    "operator's API token": NOT_BY_TOKEN,
    'service account': CASE,
    'E2B key': CASE,
    'guest sign-in': NOT_BY_TOKEN,
  },
};
/** The clock of `modules/accounts/test/integration/access/recheck.test.ts` moves; here it would take hours. */
const IN_ACCOUNTS = 'expires after minutes or days: recheck.test.ts of the accounts module moves its clock';

/** Every way to take something away from a credential of the API. */
export const WAYS = {
  'is deleted': {
    ends: 'credential',
    cells: {
      ...OF_USERS,
      'OIDC token': 'has no record here that could be deleted',
      "operator's API token": CASE,
      'service account': CASE,
      'E2B key': CASE,
      'guest sign-in': 'has no record here that could be deleted',
    },
  },
  expires: {
    ends: 'credential',
    cells: {
      JWT: 'lives as long as its session: what it opened outlasts it (decision 0034)',
      'session cookie': IN_ACCOUNTS,
      'OIDC token': 'opens nothing later: what it opened ends with a sign-out everywhere (decision 0034)',
      'API token': CASE,
      ...AS_ANY_TOKEN,
      'service account': CASE,
      'E2B key': CASE,
      'guest sign-in': IN_ACCOUNTS,
    },
  },
  'is signed out everywhere': {
    ends: 'credential',
    cells: { ...OF_USERS, ...OF_SIGN_INS, 'guest sign-in': 'cannot sign out: it has neither a session nor a password' },
  },
  'loses its password by a change': {
    ends: 'credential',
    cells: {
      ...OF_USERS,
      ...OF_SIGN_INS,
      'OIDC token': 'comes from an issuer with a password of its own',
      'guest sign-in': 'has no password',
    },
  },
  'loses its password by a link': {
    ends: 'credential',
    cells: { ...OF_USERS, ...OF_SIGN_INS, 'guest sign-in': 'has no password' },
  },
  'loses its member by removal': OF_MEMBERS,
  'loses its member, who leaves': OF_MEMBERS,
  "loses its member's role": OF_MEMBERS,
  'loses its team by deletion': OF_MEMBERS,
  'loses its workspace, which leaves the team': OF_MEMBERS,
  'loses its workspace, which moves to another team': OF_MEMBERS,
  'loses its workspace, which is transferred to another owner': OF_MEMBERS,
  'loses its workspace by deletion': {
    ends: 'workspace',
    cells: {
      ...OF_USERS,
      ...AS_ANY_TOKEN,
      'service account': CASE,
      'E2B key': CASE,
      'guest sign-in': 'cannot delete its workspace, which nobody else may either',
    },
  },
  "loses its maker's token": OF_MAKERS,
  "loses its maker's service account": OF_MAKERS,
} as const satisfies Record<string, Row>;
export type Way = keyof typeof WAYS;

/** The cases of the table. */
export function cases(): { way: Way; kind: CredentialKind; ends: Ends }[] {
  const ways = Object.entries(WAYS) as [Way, Row][]; // the names of the table
  return ways.flatMap(([way, { ends, cells }]) =>
    CREDENTIALS.filter((kind) => cells[kind] === CASE).map((kind) => ({ way, kind, ends })),
  );
}

/** Routes without a credential, by why there is nothing to take away while they respond. */
export const PUBLIC_ROUTES: Readonly<Record<string, readonly string[]>> = {
  'a short response, in exchange for a password, a link or an invitation': [
    'POST /api/auth/guest',
    'POST /api/auth/login',
    'POST /api/auth/password/link',
    'POST /api/v1/invitations/:token/accept',
  ],
  'a short response about the platform itself': [
    'GET /.well-known/jwks.json',
    'GET /e2b/health',
    'GET /healthz',
    'GET /metrics',
    'GET /readyz',
  ],
  "the agent's program and chart, the same for everyone": [
    'GET /v1/agent/images/:machine',
    'GET /v1/agent/svc-agent.tgz',
    'GET /v1/agent/svc-agent.yaml',
    'GET /v2/',
    'GET /v2/:name/blobs/:digest',
    'GET /v2/:name/manifests/:reference',
    'GET /v2/:name/tags/list',
  ],
  'a credential of a cluster, not of a caller: the registry ends a pull when it is revoked (modules/sandboxes/test/integration/images)':
    [
      'GET /v2/svc-images/:source/:image/blobs/:digest',
      'GET /v2/svc-images/:source/:image/manifests/:reference',
      'GET /v2/svc-templates/:source/:image/blobs/:digest',
      'GET /v2/svc-templates/:source/:image/manifests/:reference',
    ],
  'an object for everyone: the object store ends the download when it is no longer public': [
    'GET /api/v1/public/object-store/t/:tenant_id/objects/*',
  ],
};
/** Parts of E2B's API that do not exist here: every path and method is answered with 501. */
export const UNSUPPORTED_ROUTES =
  /^(?:(?:GET|POST|PUT|PATCH|DELETE) \/e2b\/(?:access-tokens|admin|nodes|(?:v2\/)?templates)(?:\/\*)?)$/;
