import { EventReader, waitFor, type FakeCaller } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { TerminalClient } from '../support/terminal-client.ts';

const TAKEN = { code: 4003, reason: 'the right to this terminal was taken' };

describe('an open terminal', () => {
  const driver = new FakeDriver();
  let platform: TestPlatform;
  let id: string;
  let team: string;
  let member: FakeCaller;

  beforeAll(async () => {
    platform = await startPlatform({ driver });
    id = String(
      (await platform.call('POST', '/api/containers?wait_ms=10000', { body: { image: 'busybox' } })).body['id'],
    );
    team = platform.access.team(platform.owner.workspaceUuid);
  });
  afterAll(async () => {
    await platform.dispose();
    await driver.dispose();
  });
  beforeEach(() => {
    member = platform.access.user('member');
    platform.access.join(team, member, 'member');
  });

  const scope = () => `?workspace_uuid=${platform.owner.workspaceUuid}&team_uuid=${team}`;
  const byToken = () => TerminalClient.open(platform.url, id, { query: scope(), headers: member.headers });
  const makeTicket = async () => {
    const path = `/api/containers/${id}/terminal/tickets${scope()}`;
    return (await platform.call('POST', path, { caller: member })).body;
  };
  const openTicket = (ticket: unknown) => TerminalClient.open(platform.url, id, { query: `?ticket=${String(ticket)}` });
  const byTicket = async () => openTicket((await makeTicket())['ticket']);

  it.each([
    ['the member was taken out of the team', () => platform.access.leave(team, member)],
    ['the role was lowered', () => platform.access.join(team, member, 'guest')],
    ['the credential was revoked', () => platform.access.revoke(member)],
  ])('closes when %s, however it was opened, and no other does', async (_what, take) => {
    const others = await TerminalClient.open(platform.url, id, { headers: platform.owner.headers });
    const opened = [await byToken(), await byTicket()];
    take();
    expect(await Promise.all(opened.map((terminal) => terminal.closed))).toEqual([TAKEN, TAKEN]);
    expect(others.socket.readyState).toBe(others.socket.OPEN);
    await others.close();
  });

  it.each([
    [401, () => platform.access.revoke(member)],
    [403, () => platform.access.leave(team, member)],
  ])('cannot be opened by a ticket whose creator lost access (%i)', async (status, take) => {
    const { ticket } = await makeTicket();
    take();
    await expect(openTicket(ticket)).rejects.toMatchObject({ status });
  });

  it('cannot outlive the token that created its ticket', async () => {
    const expiresAt = new Date(Date.now() + 5_000).toISOString();
    Object.assign(member.principal, { expiresAt });
    expect((await makeTicket())['expires_at']).toBe(expiresAt);
  });

  it("is audited under the name of the ticket's creator", async () => {
    const terminal = await byTicket();
    expect(platform.audit.entries.at(-1)).toMatchObject({
      action: 'sandbox:exec',
      resource: `sandbox/${id}`,
      principal: { id: member.principal.id },
    });
    await terminal.close();
  });
});

describe('an open event stream', () => {
  const driver = new FakeDriver();
  let platform: TestPlatform;
  let team: string;
  let member: FakeCaller;

  beforeAll(async () => {
    platform = await startPlatform({ driver });
    team = platform.access.team(platform.owner.workspaceUuid);
  });
  afterAll(async () => {
    await platform.dispose();
    await driver.dispose();
  });
  beforeEach(() => {
    member = platform.access.user('member');
    platform.access.join(team, member, 'member');
  });

  it.each([
    ['the member was taken out of the team', () => platform.access.leave(team, member)],
    ['the token was revoked', () => platform.access.revoke(member)],
  ])('ends when %s, and delivers no later events', async (_what, take) => {
    const url = `${platform.url}/api/events?workspace_uuid=${platform.owner.workspaceUuid}&team_uuid=${team}`;
    const events = await EventReader.open(url, member.headers);
    expect(events.status).toBe(200);
    take();
    await waitFor(() => events.ended);
    await platform.call('POST', '/api/containers?wait_ms=10000', { body: { image: 'busybox' } });
    expect(events.events).toEqual([]);
  });
});
