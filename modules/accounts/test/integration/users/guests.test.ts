import { migrations } from '@svc/migrations';
import { describeDialects, waitFor } from '@svc/testing';
import { expect, it } from 'vitest';
import { startTestAccounts } from '../../support/test-accounts.ts';
import { call } from '../../support/test-client.ts';
import { testConfig } from '../../support/test-config.ts';
import { newUser } from '../../support/test-people.ts';
import { useAccounts } from '../../support/use-accounts.ts';

describeDialects<unknown>('guest sign-in', migrations, (database) => {
  const config = testConfig({ guest: { enabled: true, max_active: 6, per_minute: 10 } });
  const accounts = useAccounts(database, () => ({ config }));
  const signIn = (body: Record<string, unknown>, remoteAddress = '198.51.100.1') =>
    call(accounts().app, 'POST', '/api/auth/guest', { body, remoteAddress });

  it('is off by default', async () => {
    const off = await startTestAccounts(database());
    const answer = await call(off.app, 'POST', '/api/auth/guest', { body: { username: 'smoke' } });
    expect(answer).toMatchObject({
      status: 403,
      body: { code: 'GUESTS_DISABLED', error: expect.any(String) as string },
    });
    await off.close();
  });

  it('returns what existing clients decode', async () => {
    const answer = await signIn({ username: 'smoke_test-1', email: 'someone@example.com' });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/) as string,
      token_type: 'Bearer',
      expires_in: 3600,
      expires_at: '2026-01-01T01:00:00.000Z',
      guest: true,
      user: { id: expect.any(String) as string, username: 'smoke_test-1', email: '', tier: 'guest' },
      containers: 1,
    });
    expect(answer.cookies).toEqual([]);
  });

  it('is tied to no e-mail or name: the same credentials create another guest', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const body = { username: 'ann', email: 'ann@example.com' };
    const [one, two] = [await signIn(body), await signIn(body)];
    const ids = [one, two].map((answer) => (answer.body['user'] as { id: string }).id);
    expect(new Set([...ids, ann.id]).size).toBe(3);
    const workspaces = await Promise.all(ids.map((id) => accounts().database.workspaces.firstOwnedBy(id)));
    expect(new Set(workspaces.map((workspace) => workspace?.uuid)).size).toBe(2);
    expect(JSON.stringify(await accounts().database.users.byId(ids[0] ?? ''))).not.toContain('example.com');
  });

  it('refuses other names', async () => {
    for (const username of ['a', 'a'.repeat(31), 'a b', 'ann@example.com', '../x', '']) {
      expect(await signIn({ username })).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } });
    }
  });

  it('limits the number of guests, and how fast one address creates them', async () => {
    const others = ['192.0.2.1', '192.0.3.1', '192.0.4.1', '192.0.5.1', '192.0.6.1'];
    for (const address of others) expect((await signIn({ username: 'smoke' }, address)).status).toBe(200);
    expect((await signIn({ username: 'smoke' })).status).toBe(200);
    expect(await signIn({ username: 'smoke' })).toMatchObject({
      status: 429,
      body: { code: 'TOO_MANY_GUESTS', details: { holder: 'installation', held: 6, limit: 6 } },
    });
    for (let count = 0; count < 8; count++) await signIn({ username: 'smoke' });
    const limited = await signIn({ username: 'smoke' });
    expect(limited).toMatchObject({ status: 429, body: { code: 'TOO_MANY_ATTEMPTS' } });
    expect(limited.headers['retry-after']).toBe('6');
    expect((await signIn({ username: 'smoke' }, '198.51.100.2')).body).toMatchObject({ code: 'TOO_MANY_GUESTS' });
    await accounts().clock.advance(3600_000);
    expect((await signIn({ username: 'smoke' })).status).toBe(200);
  });

  it('has a share for each address and network, so that the next one finds room', async () => {
    const statuses = async (address: string, count: number): Promise<number[]> => {
      const found: number[] = [];
      for (let each = 0; each < count; each++) found.push((await signIn({ username: 'smoke' }, address)).status);
      return found;
    };
    expect(await statuses('198.51.100.1', 3)).toEqual([200, 200, 429]);
    expect(await statuses('198.51.100.2', 2)).toEqual([200, 429]);
    const refused = await signIn({ username: 'smoke' }, '198.51.100.3');
    expect(refused).toMatchObject({ status: 429, body: { code: 'TOO_MANY_GUESTS' } });
    expect(refused.body['details']).toEqual({ holder: 'network', held: 3, limit: 6 });
    expect(refused.headers['retry-after']).toBe('60');
    expect(await statuses('192.0.2.1', 1)).toEqual([200]);
    expect(await statuses('2001:db8::1', 1)).toEqual([200]);
    await accounts().clock.advance(3600_000);
    expect(await statuses('198.51.100.3', 1)).toEqual([200]);
  });

  it('ends with its token: the purge removes the guest and their empty workspace', async () => {
    const guest = await signIn({ username: 'smoke' });
    const { id } = guest.body['user'] as { id: string };
    const workspace = await accounts().database.workspaces.firstOwnedBy(id);
    accounts().holdings.set(workspace?.uuid ?? '', ['1 sandbox']);
    await accounts().clock.advance(3600_000);
    const stop = new AbortController();
    await accounts().module.start(stop.signal);
    const purged = () => waitFor(() => accounts().clock.pendingTimers() === 1, { description: 'the end of a purge' });
    await purged();
    expect(await accounts().database.users.byId(id)).toBeDefined();
    accounts().holdings.clear();
    await accounts().clock.advance(300_000);
    await purged();
    await accounts().module.close();
    expect(await accounts().database.users.byId(id)).toBeUndefined();
    expect(await accounts().database.workspaces.byUuid(workspace?.uuid ?? '')).toBeUndefined();
    expect(accounts().clock.pendingTimers()).toBe(0);
  });
});
