import { migrations } from '@svc/migrations';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';
import { sortedStatuses } from '../../support/sorted-statuses.ts';
import { call, type TestResponse } from '../../support/test-client.ts';
import { testConfig } from '../../support/test-config.ts';
import { newApiToken, newUser } from '../../support/test-people.ts';
import { useAccounts } from '../../support/use-accounts.ts';

describeDialects<unknown>('API tokens', migrations, (database) => {
  const config = testConfig({ limits: { api_tokens_per_user: 5 } });
  const accounts = useAccounts(database, () => ({ config }));
  const inSeconds = (seconds: number) => new Date(accounts().clock.nowMs() + seconds * 1000).toISOString();

  it('show the secret once and list tokens without it', async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    const body = { name: 'deploy', expires_at: '2027-01-01T02:00:00+02:00' };
    const made = await call(accounts().app, 'POST', '/api/tokens', { token: user.token, body });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      name: 'deploy',
      token: expect.stringMatching(/^svc_pat_[A-Za-z0-9_-]{43}$/) as string,
      expires_at: '2027-01-01T00:00:00.000Z',
      last_used_at: null,
      current: false,
    });
    const listed = await call(accounts().app, 'GET', '/api/tokens', { token: String(made.body['token']) });
    expect(listed.body).toMatchObject({ tokens: [{ id: made.body['id'], current: true }], next_cursor: null });
    expect(JSON.stringify(listed.body)).not.toContain(String(made.body['token']));
  });

  it('are refused at once when revoked, and when expired', async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    const revoked = await newApiToken(accounts(), user);
    const expiring = await newApiToken(accounts(), user, inSeconds(10));
    const status = async (token: string) => (await call(accounts().app, 'GET', '/api/auth/me', { token })).status;
    expect([await status(revoked.token), await status(expiring.token)]).toEqual([200, 200]);
    const gone = await call(accounts().app, 'DELETE', `/api/tokens/${revoked.id}`, { token: revoked.token });
    expect(gone).toMatchObject({ status: 200, body: { id: revoked.id, deleted: true } });
    await accounts().clock.advance(10_000);
    expect([await status(revoked.token), await status(expiring.token)]).toEqual([401, 401]);
  });

  it('cannot be revoked by another user', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const bob = await newUser(accounts(), 'bob@example.com');
    const token = await newApiToken(accounts(), ann);
    for (const id of [token.id, 'no-such-token']) {
      const answer = await call(accounts().app, 'DELETE', `/api/tokens/${id}`, { token: bob.token });
      expect(answer).toMatchObject({ status: 404, body: { code: 'TOKEN_NOT_FOUND' } });
    }
    expect((await call(accounts().app, 'GET', '/api/auth/me', { token: token.token })).status).toBe(200);
  });

  it('record their last use at most once a minute', async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    const { id, token } = await newApiToken(accounts(), user);
    const used = async () => {
      await call(accounts().app, 'GET', '/api/auth/me', { token });
      return (await accounts().database.apiTokens.byId(id))?.lastUsedAt;
    };
    const first = accounts().clock.now().toISOString();
    expect(await used()).toBe(first);
    await accounts().clock.advance(59_999);
    expect(await used()).toBe(first);
    await accounts().clock.advance(1);
    expect(await used()).toBe(accounts().clock.now().toISOString());
  });

  it('cannot be created or revoked with other API tokens', async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    const shown = await newApiToken(accounts(), user);
    const other = await newApiToken(accounts(), user);
    const refusal = { status: 403, body: { code: 'INTERACTIVE_SESSION_REQUIRED' } };
    const body = { name: 'child' };
    expect(await call(accounts().app, 'POST', '/api/tokens', { token: shown.token, body })).toMatchObject(refusal);
    const revoke = (id: string) => call(accounts().app, 'DELETE', `/api/tokens/${id}`, { token: shown.token });
    expect(await revoke(other.id)).toMatchObject(refusal);
    expect((await revoke(shown.id)).status).toBe(200);
  });

  const malformed: Record<string, unknown>[] = [
    {},
    { name: '' },
    { name: '   ' },
    { name: 'a\nb' },
    { name: 'x', expires_at: 'tomorrow' },
    { name: 'x', expires_at: '2020-01-01T00:00:00Z' },
    { name: 'x', expires_at: '2027-12-31T23:59:60Z' },
    { name: 'x', scope: 'all' },
  ];
  it('refuse malformed requests', async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    for (const body of malformed) {
      const answer = await call(accounts().app, 'POST', '/api/tokens', { token: user.token, body });
      expect(answer, JSON.stringify(body)).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
    }
  });

  it('are listed in pages and limited in number, even for concurrent requests', async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    const make = () => call(accounts().app, 'POST', '/api/tokens', { token: user.token, body: { name: 'x' } });
    const made = await Promise.all(Array.from({ length: 8 }, make));
    expect(sortedStatuses(made)).toEqual([201, 201, 201, 201, 201, 409, 409, 409]);
    const seen: unknown[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const query = cursor === '' ? '' : `&cursor=${cursor}`;
      const page: TestResponse = await call(accounts().app, 'GET', `/api/tokens?page_size=2${query}`, {
        token: user.token,
      });
      seen.push(...(page.body['tokens'] as { id: string }[]).map(({ id }) => id));
      cursor = page.body['next_cursor'] as string | null; // the schema of every list
    }
    expect(new Set(seen).size).toBe(5);
    expect(seen.length).toBe(5);
    const wrong = await call(accounts().app, 'GET', '/api/tokens?cursor=bm9wZQ', { token: user.token });
    expect(wrong).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
  });
});
