import type { TestAccounts } from './test-accounts.ts';
import { call } from './test-client.ts';
import {
  joinTeam,
  newApiToken,
  newServiceAccount,
  newTeam,
  newUser,
  newWorkspace,
  signIn,
  type TestUser,
} from './test-people.ts';

/** All kinds of callers of one workspace of one team, and outsiders who must not get in. */
export interface TestWorld {
  /** Belongs to `team`, owned by `owner`. */
  workspace: string;
  team: string;
  /** Team of `outsider`, with its own workspace. */
  otherTeam: string;
  otherWorkspace: string;
  /** A team that `member` leads: a valid membership, but the wrong team for `workspace`. */
  memberTeam: string;
  captain: TestUser;
  owner: TestUser;
  admin: TestUser;
  member: TestUser;
  guest: TestUser;
  outsider: TestUser;
  guestToken: string;
  guestWorkspace: string;
  serviceAccounts: Record<'read' | 'write' | 'admin' | 'other', string>;
  /** Tokens that must be refused, by reason. */
  dead: Record<string, string>;
  /** The cookie of a session that was signed out. */
  deadCookie: string;
}

export async function buildWorld(accounts: TestAccounts): Promise<TestWorld> {
  const [captain, owner, admin, member, guest, outsider] = [
    await newUser(accounts, 'captain@example.com'),
    await newUser(accounts, 'owner@example.com'),
    await newUser(accounts, 'admin@example.com'),
    await newUser(accounts, 'member@example.com'),
    await newUser(accounts, 'guest@example.com'),
    await newUser(accounts, 'outsider@example.com'),
  ];
  const team = await newTeam(accounts, captain);
  await joinTeam(accounts, team, owner, 'admin');
  await joinTeam(accounts, team, admin, 'admin');
  await joinTeam(accounts, team, member, 'member');
  await joinTeam(accounts, team, guest, 'guest');
  const workspace = await newWorkspace(accounts, owner, team);
  // From here on, the owner has the team's lowest role: ownership alone must suffice.
  await accounts.database.members.setRole(team, owner.id, 'guest');
  const otherTeam = await newTeam(accounts, outsider);
  const otherWorkspace = await newWorkspace(accounts, outsider, otherTeam);
  const memberTeam = await newTeam(accounts, member);
  const guestSignIn = await call(accounts.app, 'POST', '/api/auth/guest', { body: { username: 'smoke' } });
  const { id: guestId } = guestSignIn.body['user'] as { id: string }; // the shape is tested in guests.test.ts
  const guestWorkspace = await accounts.database.workspaces.firstOwnedBy(guestId);
  return {
    workspace,
    team,
    otherTeam,
    otherWorkspace,
    memberTeam,
    captain,
    owner,
    admin,
    member,
    guest,
    outsider,
    guestToken: String(guestSignIn.body['token']),
    guestWorkspace: guestWorkspace?.uuid ?? '',
    serviceAccounts: {
      read: (await newServiceAccount(accounts, owner, workspace, ['read'])).token,
      write: (await newServiceAccount(accounts, owner, workspace, ['write'])).token,
      admin: (await newServiceAccount(accounts, owner, workspace, ['admin'])).token,
      other: (await newServiceAccount(accounts, outsider, otherWorkspace, ['admin'])).token,
    },
    ...(await buildDead(accounts, owner, workspace)),
  };
}

/** All belonged to the owner, so that only their end can explain a refusal. */
async function buildDead(
  accounts: TestAccounts,
  owner: TestUser,
  workspace: string,
): Promise<Pick<TestWorld, 'dead' | 'deadCookie'>> {
  const soon = new Date(accounts.clock.nowMs() + 1000).toISOString();
  const expiredPat = await newApiToken(accounts, owner, soon);
  const revokedPat = await newApiToken(accounts, owner);
  await call(accounts.app, 'DELETE', `/api/tokens/${revokedPat.id}`, { token: owner.token });
  const expiredSat = await newServiceAccount(accounts, owner, workspace, ['admin'], soon);
  const revokedSat = await newServiceAccount(accounts, owner, workspace, ['admin']);
  const revoke = `/api/v1/workspaces/${workspace}/service-accounts/${revokedSat.id}`;
  await call(accounts.app, 'DELETE', revoke, { token: owner.token });
  const signedOut = await signIn(accounts, owner.email);
  await call(accounts.app, 'POST', '/api/auth/logout', { token: signedOut.token });
  await accounts.clock.advance(1000);
  const [head = '', payload = '', signature = ''] = owner.token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
  const forged = Buffer.from(JSON.stringify({ ...claims, exp: 9_999_999_999 })).toString('base64url');
  const unsigned = Buffer.from(JSON.stringify({ alg: 'none', typ: 'at+jwt' })).toString('base64url');
  return {
    dead: {
      'a word that is no token': 'wrong',
      'an unknown API token': `svc_pat_${'A'.repeat(43)}`,
      'an unknown service account': `sat_${'A'.repeat(43)}`,
      'an expired API token': expiredPat.token,
      'a revoked API token': revokedPat.token,
      'an expired service account': expiredSat.token,
      'a revoked service account': revokedSat.token,
      'a signed-out access token': signedOut.token,
      'an access token with a changed body': [head, forged, signature].join('.'),
      'an access token without a signature': `${unsigned}.${payload}.`,
    },
    deadCookie: signedOut.sessionCookie,
  };
}
