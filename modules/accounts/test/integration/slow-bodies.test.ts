import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { HeldRights } from '@svc/access';
import { createHttpApp, createListener, type HttpApp, type Listener } from '@svc/http';
import { migrations } from '@svc/migrations';
import { createLogger, createMetrics } from '@svc/telemetry';
import { describeDialects } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { joinTeam, newTeam, newUser, newWorkspace, type TestUser } from '../support/test-people.ts';
import { useAccounts } from '../support/use-accounts.ts';

describeDialects<unknown>('a right that is lost between the head and the body of a request', migrations, (database) => {
  const accounts = useAccounts(database);
  let app: HttpApp;
  let listener: Listener;
  let port: number;
  /** Resolves once a request has been authorized by its head and waits for its body. */
  let waiting: PromiseWithResolvers<void>;

  beforeEach(async () => {
    const { access, audit, registerRoutes } = accounts().module;
    const log = createLogger({ level: 'silent', name: 'test' });
    const { clock } = accounts();
    const rights = new HeldRights({
      nowMs: () => clock.nowMs(),
      setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
      onError: (error) => expect.unreachable(String(error)),
    });
    app = await createHttpApp({ log, metrics: createMetrics(), access, audit, version: '0', rights });
    app.addHook('preParsing', async () => waiting.resolve());
    await registerRoutes(app);
    await app.ready();
    listener = createListener({ handler: (request, response) => app.routing(request, response) });
    port = await listener.listen(0, '127.0.0.1');
    waiting = Promise.withResolvers();
  });
  afterEach(async () => {
    await listener.close(0);
    await app.close();
  });

  /** Sends the head, awaits `lose` once the head is authorized, then sends the body. */
  const send = async (
    user: TestUser,
    method: string,
    path: string,
    body: object,
    lose: (answer: Promise<unknown>) => Promise<unknown>,
  ): Promise<{ status: number; body: Record<string, unknown> }> => {
    const content = JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${user.token}`,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(content)),
    };
    const outgoing = httpRequest({ host: '127.0.0.1', port, method, path, agent: false, headers });
    outgoing.on('error', () => undefined); // a response before the body may close the connection
    const answer = once(outgoing, 'response');
    outgoing.write(content.slice(0, 1));
    await waiting.promise;
    await lose(answer);
    outgoing.end(content.slice(1));
    const [response] = (await answer) as [IncomingMessage]; // Node's event
    const parsed = JSON.parse(await text(response)) as Record<string, unknown>; // every response is a JSON object
    return { status: response.statusCode ?? 0, body: parsed };
  };
  const crew = async () => {
    const owner = await newUser(accounts(), 'owner@example.com');
    const admin = await newUser(accounts(), 'admin@example.com');
    const member = await newUser(accounts(), 'member@example.com');
    const team = await newTeam(accounts(), owner);
    await joinTeam(accounts(), team, admin, 'admin');
    await joinTeam(accounts(), team, member, 'member');
    return { owner, admin, member, team };
  };

  it.each([
    ['POST', 'invitations', { email: 'new@example.com', role: 'admin' }],
    ['PATCH', 'members/MEMBER', { role: 'admin' }],
    ['PATCH', '', { name: 'Taken' }],
    ['DELETE', 'members/MEMBER', {}],
  ])('refuses an admin removed from the team: %s %s', async (method, path, body) => {
    const { admin, member, team } = await crew();
    const url = `/api/v1/teams/${team}/${path.replace('MEMBER', member.id)}`;
    const answer = await send(admin, method, url, body, () => accounts().database.members.delete(team, admin.id));
    expect(answer).toMatchObject({ status: 404, body: { code: 'TEAM_NOT_FOUND' } });
    expect((await accounts().database.members.get(team, member.id))?.role).toBe('member');
    expect(await accounts().database.invitations.countOpen(team, '')).toBe(0);
    expect((await accounts().database.teams.byUuid(team))?.name).toBe('Crew');
  });

  it('refuses a former owner who transfers the team', async () => {
    const { owner, admin, member, team } = await crew();
    const now = accounts().clock.now().toISOString();
    const body = { user_id: member.id };
    const answer = await send(owner, 'POST', `/api/v1/teams/${team}/transfer`, body, () =>
      accounts().database.teams.update(team, { ownerId: admin.id }, now),
    );
    expect(answer.status).toBe(403);
    expect((await accounts().database.teams.byUuid(team))?.ownerId).toBe(admin.id);
  });

  it('allows a caller who kept the right', async () => {
    const { admin, member, team } = await crew();
    const url = `/api/v1/teams/${team}/members/${member.id}`;
    expect(await send(admin, 'PATCH', url, { role: 'admin' }, async () => undefined)).toMatchObject({ status: 200 });
  });

  it.each([
    ['PATCH', '/api/v1/workspaces/WORKSPACE', { name: 'Taken' }],
    ['POST', '/api/v1/workspaces/WORKSPACE/transfer', { user_id: 'x' }],
    ['POST', '/api/auth/password', { current_password: 'x', new_password: 'another long password' }],
    ['DELETE', '/api/v1/workspaces/WORKSPACE', {}],
  ])('aborts a request that its own change would not end: %s %s', async (method, path, body) => {
    const owner = await newUser(accounts(), 'owner@example.com');
    const workspace = await newWorkspace(accounts(), owner, null, 'Mine');
    const answer = await send(owner, method, path.replace('WORKSPACE', workspace), body, async (ended) => {
      await accounts().database.sessions.deleteOfUser(owner.id);
      await accounts().clock.advance(2_000);
      await ended;
    });
    expect(answer).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } });
    expect(await accounts().database.workspaces.byUuid(workspace)).toMatchObject({ name: 'Mine', deletingSince: null });
  });
});
