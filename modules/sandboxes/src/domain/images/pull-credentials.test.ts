import { createSecretKey } from 'node:crypto';
import { migrations } from '@svc/migrations';
import { systemRandom } from '@svc/runtime';
import { describeDialects, fakeAudit, fakeClock } from '@svc/testing';
import { expect, it } from 'vitest';
import { createPullCredentialRepository } from '../../store/pull-credential-repository.ts';
import type { SandboxTables } from '../../store/tables.ts';
import { nodeSubject, PullCredentials } from './pull-credentials.ts';

const DAY_MS = 86_400_000;
const HOME = { subject: 'cls-home', workspaceUuid: 'w' };

describeDialects<SandboxTables>('credentials to pull images', migrations, (database) => {
  function start() {
    const clock = fakeClock();
    const audit = fakeAudit();
    const gone = new Set<string>();
    const replica = (key = 7): PullCredentials =>
      new PullCredentials({
        repository: createPullCredentialRepository(database().kysely),
        key: async () => createSecretKey(Buffer.alloc(32, key)),
        isCurrent: async ({ subject }) => !gone.has(subject),
        audit,
        clock,
        random: systemRandom,
      });
    return { clock, audit, gone, replica };
  }
  const stored = () => database().kysely.selectFrom('sandbox_pull_credential').selectAll().execute();

  it('are the same at every replica, and audited once', async () => {
    const { audit, replica } = start();
    const [one, other] = await Promise.all([replica().issue(HOME), replica().issue(HOME)]);
    expect(other).toEqual(one);
    expect(await replica().issue(HOME)).toEqual(one);
    expect(await replica().check(one)).toMatchObject(HOME);
    expect(audit.entries.map(({ details }) => details)).toEqual([{ subject: 'cls-home' }]);
    expect(audit.entries[0]).toMatchObject({ principal: null, workspaceUuid: 'w', outcome: 'success' });
  });

  it('are stored nowhere', async () => {
    const { audit, replica } = start();
    const { password } = await replica().issue(HOME);
    const secret = password.slice(password.indexOf('-') + 1);
    expect(secret).toHaveLength(43);
    expect(JSON.stringify([await stored(), audit.entries])).not.toContain(secret);
  });

  it('are refused with another name, another key or a changed password', async () => {
    const { replica } = start();
    const login = await replica().issue(HOME);
    const node = await replica().issue(nodeSubject('a'));
    const refused = [
      { ...login, username: node.username },
      { ...node, username: login.username },
      { ...login, password: `${login.password}x` },
      { ...login, password: login.password.toUpperCase() },
      { ...login, password: '' },
    ];
    for (const each of refused) expect(await replica().check(each)).toBeNull();
    expect(await replica(8).check(login)).toBeNull();
    expect(await replica().check(node)).toMatchObject({ workspaceUuid: null });
  });

  it('change after 30 days, which revokes the one before', async () => {
    const { clock, audit, replica } = start();
    const first = await replica().issue(HOME);
    await clock.advance(29 * DAY_MS);
    expect(await replica().issue(HOME)).toEqual(first);
    await clock.advance(DAY_MS);
    const second = await replica().issue(HOME);
    expect(second.username).toBe(first.username);
    expect(second.password).not.toBe(first.password);
    expect([await replica().check(first), (await replica().check(second)) !== null]).toEqual([null, true]);
    expect(audit.entries).toHaveLength(2);
  });

  it('end a day after their 30 days if none is issued, and leave no row', async () => {
    const { clock, replica } = start();
    const login = await replica().issue(HOME);
    await clock.advance(31 * DAY_MS - 1);
    expect(await replica().check(login)).toMatchObject(HOME);
    await clock.advance(1);
    expect(await replica().check(login)).toBeNull();
    expect(await stored()).toEqual([]);
    expect((await replica().issue(HOME)).password).not.toBe(login.password);
  });

  it('end with their cluster for good', async () => {
    const { gone, replica } = start();
    const login = await replica().issue(HOME);
    gone.add('cls-home');
    expect(await replica().check(login)).toBeNull();
    expect(await stored()).toEqual([]);
    gone.clear();
    expect(await replica().check(login)).toBeNull();
    expect((await replica().issue(HOME)).password).not.toBe(login.password);
  });
});
