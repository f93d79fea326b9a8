import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { systemRandom } from '@svc/runtime';
import { Argon2PasswordHasher } from '../../src/domain/password/password-hasher.ts';
import type { TeamRole, User } from '../../src/domain/records.ts';
import { createPerson } from '../../src/domain/users/create-person.ts';
import type { TestAccounts } from './test-accounts.ts';
import { call } from './test-client.ts';

export const PASSWORD = 'correct horse battery';

export interface TestUser {
  id: string;
  email: string;
  /** Access JWT of a sign-in. */
  token: string;
  sessionCookie: string;
  deviceCookie: string;
  workspaceUuid: string;
}

/** Creates a user as an invitation would, without the invitation. */
export async function addUser(accounts: TestAccounts, email: string, operator = false): Promise<User> {
  const deps = { clock: accounts.clock, random: systemRandom };
  const hasher = new Argon2PasswordHasher({ memoryKib: 8, passes: 1, parallelism: 1 }, randomBytes);
  const passwordHash = await hasher.hash(PASSWORD, null);
  const user = await accounts.database.transact((stores) =>
    createPerson(stores, deps, { email, name: email.split('@')[0] ?? email, passwordHash, operator }),
  );
  if (user === undefined) throw new Error(`${email} is taken`);
  return user;
}

export async function signIn(accounts: TestAccounts, email: string, password = PASSWORD): Promise<TestUser> {
  const response = await call(accounts.app, 'POST', '/api/auth/login', { body: { email, password } });
  if (response.status !== 200) throw new Error(`sign-in of ${email} answered ${response.status}`);
  const user = await accounts.database.users.byEmail(email);
  const workspace = await accounts.database.workspaces.firstOwnedBy(user?.id ?? '');
  return {
    id: user?.id ?? '',
    email,
    token: String(response.body['access_token']),
    sessionCookie: response.cookies.find(({ name }) => name.endsWith('svc_session'))?.value ?? '',
    deviceCookie: response.cookies.find(({ name }) => name.endsWith('svc_device'))?.value ?? '',
    workspaceUuid: workspace?.uuid ?? '',
  };
}

export async function newUser(accounts: TestAccounts, email: string, operator = false): Promise<TestUser> {
  await addUser(accounts, email, operator);
  return signIn(accounts, email);
}

export async function newTeam(accounts: TestAccounts, owner: TestUser, name = 'Crew'): Promise<string> {
  const { body } = await call(accounts.app, 'POST', '/api/v1/teams', { token: owner.token, body: { name } });
  return String(body['uuid']);
}

export async function joinTeam(
  accounts: TestAccounts,
  teamUuid: string,
  user: TestUser,
  role: TeamRole,
): Promise<void> {
  const createdAt = accounts.clock.now().toISOString();
  await accounts.database.members.insert({ teamUuid, userId: user.id, role, createdAt });
}

export async function newWorkspace(
  accounts: TestAccounts,
  owner: TestUser,
  teamUuid: string | null,
  name = 'Shared',
): Promise<string> {
  const body = { name, team_uuid: teamUuid };
  const response = await call(accounts.app, 'POST', '/api/v1/workspaces', { token: owner.token, body });
  if (response.status !== 201) throw new Error(`making a workspace answered ${response.status}`);
  return String(response.body['uuid']);
}

export async function newServiceAccount(
  accounts: TestAccounts,
  owner: TestUser,
  workspaceUuid: string,
  scopes: readonly string[],
  expiresAt?: string,
): Promise<{ id: string; token: string }> {
  const url = `/api/v1/workspaces/${workspaceUuid}/service-accounts`;
  const body = { name: scopes.join('-'), scopes, ...(expiresAt === undefined ? {} : { expires_at: expiresAt }) };
  const response = await call(accounts.app, 'POST', url, { token: owner.token, body });
  if (response.status !== 201) throw new Error(`making a service account answered ${response.status}`);
  return { id: String(response.body['id']), token: String(response.body['token']) };
}

export async function newApiToken(
  accounts: TestAccounts,
  user: TestUser,
  expiresAt?: string,
): Promise<{ id: string; token: string }> {
  const body = { name: 'test', ...(expiresAt === undefined ? {} : { expires_at: expiresAt }) };
  const response = await call(accounts.app, 'POST', '/api/tokens', { token: user.token, body });
  if (response.status !== 201) throw new Error(`making a token answered ${response.status}`);
  return { id: String(response.body['id']), token: String(response.body['token']) };
}

/** A new Ed25519 key, as one line of `authorized_keys`. */
export function newSshPublicKey(): string {
  const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  const fields = [Buffer.from('ssh-ed25519'), Buffer.from(x, 'base64url')].flatMap((bytes) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return [length, bytes];
  });
  return `ssh-ed25519 ${Buffer.concat(fields).toString('base64')}`;
}
