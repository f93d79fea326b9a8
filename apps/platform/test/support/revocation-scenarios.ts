import {
  bearer,
  done,
  fetchCookie,
  newE2bKey,
  newGuest,
  newMember,
  newServiceAccount,
  newTeam,
  newToken,
  PASSWORD,
  signIn,
  type Caller,
  type Person,
} from './callers.ts';
import type { PlatformApi } from './platform-api.ts';
import type { CredentialKind, Way } from './revocation-table.ts';

export interface World {
  readonly platform: PlatformApi;
  /** The operator, who owns the teams. */
  readonly owner: Person;
  /** Signs the token of an external issuer for a user. */
  readonly signExternally: (email: string) => string;
  /** How long credentials live that shall expire. */
  readonly expiresInMs: number;
}

/** A credential, and how it is taken away. */
export interface Prepared {
  readonly caller: Caller;
  /** May do everything in the workspace until then. */
  readonly steward: Caller;
  take(): Promise<unknown>;
}

interface Issued extends Caller {
  /** The request that deletes it, or signs it out. */
  readonly deleted: readonly [method: string, path: string];
}

const SIGN_OUT = ['POST', '/api/auth/logout'] as const;
const soon = ({ expiresInMs }: World): string => new Date(Date.now() + expiresInMs).toISOString();

/** Creates the credential of a case with whatever its way needs. */
export function prepare(world: World, way: Way, kind: CredentialKind): Promise<Prepared> {
  return PREPARATIONS[way](world, kind);
}

const PREPARATIONS: Readonly<Record<Way, (world: World, kind: CredentialKind) => Promise<Prepared>>> = {
  'is deleted': async (world, kind) => {
    const holder = kind === "operator's API token" ? world.owner : await newPerson(world);
    const { deleted, ...caller } = await issue(world, kind, holder);
    const [method, path] = deleted;
    const by = kind === 'session cookie' ? caller : holder;
    return {
      caller,
      steward: await newToken(world.platform, holder),
      take: () => done(world.platform, method, path, by.headers),
    };
  },
  expires: async (world, kind) => {
    const person = await newPerson(world);
    const { platform } = world;
    const steward = await newToken(platform, person);
    if (kind === 'service account')
      return waiting(steward, await newServiceAccount(platform, person, person.workspace, { expiresAt: soon(world) }));
    const token = await newToken(platform, person, soon(world));
    return waiting(steward, kind === 'E2B key' ? await newE2bKey(platform, token) : token);
  },
  'is signed out everywhere': async (world, kind) => {
    const person = await newPerson(world);
    const caller = await issue(world, kind, person);
    const other = await signIn(world.platform, person.email);
    return {
      caller,
      steward: await newToken(world.platform, person),
      take: () => done(world.platform, 'POST', '/api/auth/logout?everywhere=true', other.headers),
    };
  },
  'loses its password by a change': async (world, kind) => {
    const person = await newPerson(world);
    const caller = await issue(world, kind, person);
    const other = await signIn(world.platform, person.email);
    const body = { current_password: PASSWORD, new_password: 'another horse battery' };
    return {
      caller,
      steward: await newToken(world.platform, person),
      take: () => done(world.platform, 'POST', '/api/auth/password', other.headers, body),
    };
  },
  'loses its password by a link': async (world, kind) => {
    const person = await newPerson(world);
    const caller = await issue(world, kind, person);
    const { resetPassword } = world.platform.composition.accounts;
    return {
      caller,
      steward: await newToken(world.platform, person),
      take: () => resetPassword(person.email, 'another horse battery'),
    };
  },
  'loses its member by removal': (world, kind) =>
    ofMember(world, kind, ({ path }) => done(world.platform, 'DELETE', path, world.owner.headers)),
  'loses its member, who leaves': (world, kind) =>
    ofMember(world, kind, ({ path, holder }) => done(world.platform, 'DELETE', path, holder.headers)),
  "loses its member's role": (world, kind) =>
    ofMember(world, kind, ({ path }) => done(world.platform, 'PATCH', path, world.owner.headers, { role: 'member' })),
  'loses its team by deletion': (world, kind) =>
    ofMember(world, kind, ({ team }) => done(world.platform, 'DELETE', `/api/v1/teams/${team}`, world.owner.headers)),
  'loses its workspace, which leaves the team': (world, kind) =>
    ofMember(world, kind, ({ workspace }) => move(world, workspace, null)),
  'loses its workspace, which moves to another team': async (world, kind) => {
    const other = await newTeam(world.platform, world.owner);
    return ofMember(world, kind, ({ workspace }) => move(world, workspace, other.team));
  },
  'loses its workspace, which is transferred to another owner': async (world, kind) => {
    const { platform } = world;
    const former = await newPerson(world);
    const place = await newTeam(platform, former);
    const heir = await newMember(platform, former, place, 'member');
    const caller = await issue(world, kind, { ...former, ...place });
    const path = `/api/v1/workspaces/${place.workspace}/transfer`;
    return {
      caller,
      steward: await newToken(platform, { ...former, ...place }),
      take: () => done(platform, 'POST', path, former.headers, { user_id: heir.id }),
    };
  },
  'loses its workspace by deletion': async (world, kind) => {
    const { platform } = world;
    const person = await newPerson(world);
    const { workspace } = await newTeam(platform, person);
    const caller = await issue(world, kind, { ...person, workspace });
    const take = () => done(platform, 'DELETE', `/api/v1/workspaces/${workspace}`, person.headers);
    return { caller, steward: await newToken(platform, { ...person, workspace }), take };
  },
  "loses its maker's token": async (world, kind) => {
    const person = await newPerson(world);
    const maker = await newToken(world.platform, person);
    const { deleted: _, ...caller } = await issue(world, kind, { ...person, ...maker });
    return {
      caller,
      steward: await newToken(world.platform, person),
      take: () => done(world.platform, 'DELETE', `/api/tokens/${maker.id}`, person.headers),
    };
  },
  "loses its maker's service account": async (world, kind) => {
    const person = await newPerson(world);
    const maker = await newServiceAccount(world.platform, person, person.workspace);
    const { deleted: _, ...caller } = await issue(world, kind, { ...person, ...maker });
    return {
      caller,
      steward: await newToken(world.platform, person),
      take: () => done(world.platform, 'DELETE', maker.path, person.headers),
    };
  },
};

interface Membership {
  readonly holder: Person;
  readonly team: string;
  readonly workspace: string;
  /** Of the member in its team. */
  readonly path: string;
}

async function ofMember(
  world: World,
  kind: CredentialKind,
  take: (membership: Membership) => Promise<unknown>,
): Promise<Prepared> {
  const place = await newTeam(world.platform, world.owner);
  const holder = await newMember(world.platform, world.owner, place, 'admin');
  const caller = await issue(world, kind, holder);
  const path = `/api/v1/teams/${place.team}/members/${holder.id}`;
  return {
    caller,
    steward: { ...world.owner, workspace: place.workspace },
    take: () => take({ ...place, holder, path }),
  };
}

function move({ platform, owner }: World, workspace: string, team: string | null): Promise<unknown> {
  return done(platform, 'PATCH', `/api/v1/workspaces/${workspace}`, owner.headers, { team_uuid: team });
}

/** A user who acts in a workspace of their own. */
export async function newPerson({ platform, owner }: World): Promise<Person> {
  const someone = await newMember(platform, owner, await newTeam(platform, owner), 'guest');
  const { uuid } = await done(platform, 'POST', '/api/v1/workspaces', someone.headers, { name: 'of their own' });
  return { ...someone, workspace: String(uuid), team: null };
}

/** Creates a credential of this kind with the credential of its holder. */
async function issue(world: World, kind: CredentialKind, holder: Person): Promise<Issued> {
  const { platform, signExternally } = world;
  const { workspace, team, email } = holder;
  switch (kind) {
    case 'JWT':
      return { ...holder, deleted: SIGN_OUT };
    case 'session cookie':
      return { headers: await fetchCookie(platform, email), workspace, team, deleted: SIGN_OUT };
    case 'OIDC token': {
      const headers = bearer(signExternally(email));
      await done(platform, 'GET', '/api/auth/me', headers);
      return { headers, workspace, team, deleted: SIGN_OUT };
    }
    case 'API token':
    case "operator's API token": {
      const token = await newToken(platform, holder);
      return { ...token, deleted: ['DELETE', `/api/tokens/${token.id}`] };
    }
    case 'service account': {
      const account = await newServiceAccount(platform, holder, workspace);
      return { ...account, deleted: ['DELETE', account.path] };
    }
    case 'E2B key': {
      const key = await newE2bKey(platform, holder);
      return { ...key, deleted: ['DELETE', key.path] };
    }
    case 'guest sign-in':
      return { ...(await newGuest(platform)), deleted: SIGN_OUT };
  }
}

function waiting(steward: Caller, caller: Caller): Prepared {
  return { caller, steward, take: async () => undefined };
}
