import { migrations } from '@svc/migrations';
import { describeDialects } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type LocalIssuer, startLocalIssuer } from '../../support/local-issuer.ts';
import { startTestAccounts, type TestAccounts } from '../../support/test-accounts.ts';
import { call } from '../../support/test-client.ts';
import { testConfig } from '../../support/test-config.ts';
import { newUser } from '../../support/test-people.ts';
import { useAccounts } from '../../support/use-accounts.ts';

describeDialects<unknown>('trusted OIDC issuers', migrations, (database) => {
  let issuer: LocalIssuer;
  beforeAll(async () => {
    issuer = await startLocalIssuer();
  });
  afterAll(() => issuer.close());
  beforeEach(() => issuer.answerWith(null));

  const configFor = (autoCreate: boolean) =>
    testConfig({
      trusted_issuers: [
        { issuer: issuer.issuer, audience: 'svc-test', jwks_url: issuer.jwksUrl, auto_create: autoCreate } as never, // the schema adds the rest
      ],
    });
  const accounts = useAccounts(database, () => ({ config: configFor(false) }));
  const ann = { sub: 'subject-1', email: 'Ann@example.com', email_verified: true };
  const sign = (claims: Record<string, unknown>, lifetime?: number) =>
    issuer.sign(claims, accounts().clock.now(), lifetime);
  const me = (token: string, on: TestAccounts = accounts()) => call(on.app, 'GET', '/api/auth/me', { token });

  it("sign in the user with the token's verified e-mail", async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    const answer = await me(await sign(ann));
    expect(answer).toMatchObject({
      status: 200,
      body: { user: { id: user.id }, credential: { kind: 'oidc', id: null } },
    });
  });

  it('link the subject at the first sign-in; after that, the e-mail has no effect', async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    await newUser(accounts(), 'bob@example.com');
    expect((await me(await sign(ann))).status).toBe(200);
    const renamed = await me(await sign({ sub: 'subject-1', email: 'bob@example.com', email_verified: true }));
    expect(renamed.body).toMatchObject({ user: { id: user.id } });
    expect((await me(await sign({ sub: 'subject-1' }))).status).toBe(200);
    expect((await me(await sign({ ...ann, sub: 'subject-2' }))).status).toBe(401);
  });

  it('refuse an unverified, unknown or missing e-mail', async () => {
    await newUser(accounts(), 'ann@example.com');
    const claims = [
      { ...ann, email_verified: false },
      { sub: 'subject-1', email: 'ann@example.com' },
      { ...ann, email: 'nobody@example.com' },
      { sub: 'subject-1', email_verified: true },
      { email: 'ann@example.com', email_verified: true },
    ];
    for (const each of claims) expect((await me(await sign(each))).status).toBe(401);
  });

  it('have their tokens checked: issuer, audience, time, signature, algorithm', async () => {
    await newUser(accounts(), 'ann@example.com');
    const other = await startLocalIssuer();
    const genuine = await sign(ann);
    const [head, body] = genuine.split('.');
    const wrong = [
      await sign({ ...ann, aud: 'another' }),
      await sign({ ...ann, iss: 'https://elsewhere.example' }),
      await issuer.sign(ann, new Date(accounts().clock.nowMs() - 3600_000)),
      await other.sign({ ...ann, iss: issuer.issuer }, accounts().clock.now()),
      `${String(head)}.${String(body)}.`,
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${String(body)}.`,
    ];
    for (const token of wrong) expect((await me(token)).status).toBe(401);
    await other.close();
  });

  it('need tokens with times of issue and expiry, and not from the future', async () => {
    const user = await newUser(accounts(), 'ann@example.com');
    const from = (seconds: number, claims: Record<string, unknown> = ann) =>
      issuer.sign(claims, new Date(accounts().clock.nowMs() + seconds * 1000));
    expect((await me(await issuer.sign(ann, accounts().clock.now(), null))).status).toBe(401);
    expect((await me(await sign({ ...ann, iat: undefined }))).status).toBe(401);
    expect((await me(await sign({ ...ann, exp: 'never' }))).status).toBe(401);
    const future = await from(3600);
    expect((await me(future)).status).toBe(401);
    expect((await me(await from(31))).status).toBe(401);
    expect((await me(await from(29))).status).toBe(200); // clock tolerance
    // A token accepted within the tolerance must not survive an earlier sign-out.
    expect(await call(accounts().app, 'POST', '/api/auth/logout?everywhere=true', { token: user.token })).toMatchObject(
      {
        status: 200,
      },
    );
    expect((await me(future)).status).toBe(401);
  });

  it('create a user if configured, and only one for concurrent requests', async () => {
    const creating = await startTestAccounts(database(), { config: configFor(true) });
    const token = await issuer.sign({ ...ann, name: 'Ann A' }, new Date(creating.clock.nowMs() - 60_000));
    const answers = await Promise.all(Array.from({ length: 5 }, () => me(token, creating)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(answers[0]?.body).toMatchObject({ user: { email: 'ann@example.com', name: 'Ann A' } });
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    const login = { body: { email: 'ann@example.com', password: 'anything at all' } };
    expect((await call(creating.app, 'POST', '/api/auth/login', login)).status).toBe(401);
    await creating.close();
  });

  it('sign out everywhere like any session', async () => {
    await newUser(accounts(), 'ann@example.com');
    const token = await sign(ann);
    await accounts().clock.advance(1000);
    expect((await call(accounts().app, 'POST', '/api/auth/logout?everywhere=true', { token })).status).toBe(200);
    expect((await me(token)).status).toBe(401);
    await accounts().clock.advance(1000);
    expect((await me(await sign(ann))).status).toBe(200);
  });

  it('have their keys fetched once, and again for an unknown key, within a limit', async () => {
    await newUser(accounts(), 'ann@example.com');
    const before = issuer.requests();
    await Promise.all(Array.from({ length: 5 }, async () => me(await sign(ann))));
    expect(issuer.requests() - before).toBe(1);
    const old = await sign(ann, 3600);
    await issuer.rotate();
    const fresh = await sign(ann, 3600);
    expect((await me(fresh)).status).toBe(401); // asked a moment ago: unknown keys must not cause a flood of requests
    await accounts().clock.advance(30_000);
    expect((await me(fresh)).status).toBe(200);
    expect((await me(old)).status).toBe(401);
    expect(issuer.requests() - before).toBe(2);
  });

  it('keep working with cached keys for a day when they fail', async () => {
    await newUser(accounts(), 'ann@example.com');
    expect((await me(await sign(ann))).status).toBe(200);
    const faults: [string, number][] = [
      ['gone', 503],
      ['no JSON', 200],
      ['{"keys":1}', 200],
      [JSON.stringify({ keys: [], padding: 'x'.repeat(300_000) }), 200],
    ];
    for (const [body, status] of faults) {
      issuer.answerWith(body, status);
      await accounts().clock.advance(600_000);
      expect((await me(await sign(ann))).status).toBe(200);
    }
    await accounts().clock.advance(86_400_000);
    expect((await me(await sign(ann))).status).toBe(401);
    issuer.answerWith(null);
    await accounts().clock.advance(30_000);
    expect((await me(await sign(ann))).status).toBe(200);
  });
});
