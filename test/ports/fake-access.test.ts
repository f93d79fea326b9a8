import type { Action, Principal } from '@svc/access';
import { authorizeTable } from '@svc/accounts';
import { fakeAccess, type FakeCaller } from '@svc/testing';
import { describe, expect, it } from 'vitest';

/** Tests of modules use the fake; this makes their refusals meaningful. */
describe('the fake access port agrees with the authorization table', () => {
  const access = fakeAccess();
  const owner = access.user('owner');
  const { workspaceUuid } = owner;
  const teamUuid = access.team(workspaceUuid);
  const member = (role: 'admin' | 'member' | 'guest'): FakeCaller => {
    const caller = access.user(role);
    access.join(teamUuid, caller, role);
    return caller;
  };
  const guest = access.guest();
  const callers = {
    owner: { principal: owner.principal, workspaceUuid },
    admin: { principal: member('admin').principal, workspaceUuid, teamUuid },
    member: { principal: member('member').principal, workspaceUuid, teamUuid },
    guest: { principal: member('guest').principal, workspaceUuid, teamUuid },
    sat_read: { principal: access.serviceAccount(workspaceUuid, ['read']).principal, workspaceUuid },
    sat_write: { principal: access.serviceAccount(workspaceUuid, ['write']).principal, workspaceUuid },
    sat_admin: { principal: access.serviceAccount(workspaceUuid, ['admin']).principal, workspaceUuid },
    guest_user: { principal: guest.principal, workspaceUuid: guest.workspaceUuid },
  };
  const actions = Object.entries(authorizeTable) as [Action, (typeof authorizeTable)[keyof typeof authorizeTable]][];

  for (const [subject, who] of Object.entries(callers)) {
    it(`for ${subject} in a workspace`, async () => {
      const inWorkspace = actions.filter(([, rule]) => rule.scope === 'workspace');
      const expected = inWorkspace.filter(([, rule]) => (rule.allows as readonly string[]).includes(subject));
      const allowed = [];
      for (const [action] of inWorkspace) {
        if (await passes(() => access.authorize({ ...who, action }))) allowed.push(action);
      }
      expect(allowed).toEqual(expected.map(([action]) => action));
    });
  }

  const kinds: Record<string, Principal> = {
    user: owner.principal,
    service_account: callers.sat_admin.principal,
    guest_user: guest.principal,
  };
  for (const [subject, principal] of Object.entries(kinds)) {
    it(`for a ${subject} and its own resources`, async () => {
      const own = actions.filter(([, rule]) => rule.scope === 'self');
      const expected = own.filter(([, rule]) => (rule.allows as readonly string[]).includes(subject));
      const allowed = [];
      for (const [action] of own) {
        if (await passes(() => access.permit(principal, action))) allowed.push(action);
      }
      expect(allowed).toEqual(expected.map(([action]) => action));
    });
  }
});

async function passes(decide: () => Promise<unknown>): Promise<boolean> {
  try {
    await decide();
    return true;
  } catch (error) {
    expect(error).toMatchObject({ status: 403 });
    return false;
  }
}
