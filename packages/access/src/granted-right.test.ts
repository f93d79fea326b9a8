import { fakeAccess, type FakeCaller } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { confirmAccess, createGrantedAccess, createGrantedRight, type GrantedAccess } from './granted-right.ts';

const NOW = new Date('2026-01-01T00:00:00.000Z');

describe('what was granted before', () => {
  const access = fakeAccess();
  const owner = access.user('owner');
  const team = access.team(owner.workspaceUuid);

  async function granted(role: 'admin' | 'member'): Promise<{ caller: FakeCaller; before: GrantedAccess }> {
    const caller = access.user(role);
    access.join(team, caller, role);
    const grant = await access.authorize({
      principal: caller.principal,
      action: 'command:exec',
      workspaceUuid: owner.workspaceUuid,
      teamUuid: team,
    });
    return { caller, before: createGrantedAccess(caller.principal, NOW, 'command:exec', grant) };
  }

  it('is refused with another role, although the new one might do it', async () => {
    const { caller, before } = await granted('admin');
    expect(await confirmAccess(access, before)).toEqual(caller.principal);
    access.join(team, caller, 'member');
    await expect(confirmAccess(access, before)).rejects.toMatchObject({ status: 403 });
  });

  it('is refused with a revoked credential, and to a member who is gone', async () => {
    const revoked = await granted('member');
    access.revoke(revoked.caller);
    await expect(confirmAccess(access, revoked.before)).rejects.toMatchObject({ status: 401 });
    const removed = await granted('member');
    access.leave(team, removed.caller);
    await expect(confirmAccess(access, removed.before)).rejects.toMatchObject({ status: 403 });
  });

  it('is one right for all requests of a credential, and another for each credential, action and role', async () => {
    const { before } = await granted('admin');
    const keyOf = (changed: Partial<GrantedAccess>): string =>
      createGrantedRight(access, { ...before, ...changed }, NOW.getTime()).key;
    const later = { ...before.credential, shownAt: '2026-01-02T00:00:00.000Z' };
    expect(keyOf({ credential: later })).toBe(keyOf({}));
    const others = [
      keyOf({ credential: { ...before.credential, credentialId: 'another' } }),
      keyOf({ action: 'command:logs' }),
      keyOf({ grant: null }),
      keyOf({ grant: { workspaceUuid: owner.workspaceUuid, teamUuid: team, role: 'member' } }),
    ];
    expect(new Set([keyOf({}), ...others]).size).toBe(5);
  });

  it('is asked for exactly where only the time tells credentials apart', async () => {
    const { before } = await granted('admin');
    const right = (shownAt: string) =>
      createGrantedRight(
        access,
        { ...before, credential: { ...before.credential, credential: 'oidc', credentialId: null, shownAt } },
        NOW.getTime(),
      );
    const [one, two] = [right('2026-01-01T00:00:00.000Z'), right('2026-01-02T00:00:00.000Z')];
    expect(one.key).toBe(two.key);
    expect(one.exactKey).not.toBe(two.exactKey);
  });
});
