import { createClient, type SvcClient } from '@svc/sdk';
import type { RunningPlatform } from './platform.ts';

export interface Seed {
  teamUuid: string;
  teamWorkspaceUuid: string;
  member: { email: string; name: string; password: string };
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Creates a team with members, workspaces, tokens and invitations through the API. */
export async function seedPlatform({ svc, url, workspaceUuid, owner }: RunningPlatform): Promise<Seed> {
  const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();
  const team = await svc.teams.create('Observatory');
  const workspace = await svc.workspaces.create({ name: 'telescopes', teamUuid: team.uuid });
  await svc.workspaces.create({ name: 'sky-survey', teamUuid: team.uuid });
  await svc.workspaces.rename({ workspaceUuid }, 'home');
  await svc.workspaces.create({ name: 'notebooks' });
  const { accounts } = await signedIn(url, owner); // API tokens cannot create API tokens
  const pipeline = await accounts.createToken({ name: 'ci-pipeline', expiresAt: inDays(90) });
  await accounts.createToken({ name: 'backup-job', expiresAt: inDays(5) });
  await accounts.createToken({ name: 'laptop' });
  await createClient({ baseUrl: url, credential: { kind: 'token', token: pipeline.token } }).accounts.me();
  const guests = [
    { email: 'vera@example.com', name: 'Vera Rubin', password: 'dark matter rotation curves', role: 'admin' },
    { email: 'cecilia@example.com', name: 'Cecilia Payne', password: 'stars are mostly hydrogen', role: 'member' },
    { email: 'henrietta@example.com', name: 'Henrietta Leavitt', password: 'period and luminosity', role: 'guest' },
  ] as const;
  const nobody = createClient({ baseUrl: url, credential: { kind: 'none' } });
  for (const { role, ...account } of guests) {
    const { token } = await svc.teams.invite(team.uuid, { email: account.email, role });
    await nobody.accounts.acceptInvitation(token, account);
  }
  await svc.teams.invite(team.uuid, { email: 'annie@example.com', role: 'member' });
  await svc.teams.invite(team.uuid, { email: 'williamina@example.com', role: 'guest' });
  const [, { email, name, password }] = guests;
  return { teamUuid: team.uuid, teamWorkspaceUuid: workspace.uuid, member: { email, name, password } };
}

async function signedIn(url: string, account: { email: string; password: string }): Promise<SvcClient> {
  const nobody = createClient({ baseUrl: url, credential: { kind: 'none' } });
  const { access_token: token } = await nobody.accounts.signIn(account);
  return createClient({ baseUrl: url, credential: { kind: 'token', token } });
}
