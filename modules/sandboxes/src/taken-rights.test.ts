import type { FakeCaller } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeDriver } from './testing/fake-driver.ts';
import { startPlatform, type TestPlatform } from './testing/platform.ts';
import { TerminalClient } from './testing/terminal-client.ts';

const TAKEN = { code: 4003, reason: 'the right to this terminal was taken' };

describe('a terminal that is open', () => {
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
  const byTicket = async () => {
    const path = `/api/containers/${id}/terminal/tickets${scope()}`;
    const { body } = await platform.call('POST', path, { caller: member });
    return TerminalClient.open(platform.url, id, { query: `?ticket=${body['ticket']}` });
  };

  it.each([
    ['the member was taken out of the team', () => platform.access.leave(team, member)],
    ['the role was lowered', () => platform.access.join(team, member, 'guest')],
  ])('ends when %s, by whatever it was opened, and no other does', async (_what, take) => {
    const others = await TerminalClient.open(platform.url, id, { headers: platform.owner.headers });
    const opened = [await byToken(), await byTicket()];
    take();
    expect(await Promise.all(opened.map((terminal) => terminal.closed))).toEqual([TAKEN, TAKEN]);
    expect(others.socket.readyState).toBe(others.socket.OPEN);
    await others.close();
  });

  it('ends when the token was revoked that it was opened with', async () => {
    const terminal = await byToken();
    platform.access.revoke(member);
    expect(await terminal.closed).toEqual(TAKEN);
  });

  it('is written down by the name of whoever made the ticket', async () => {
    const terminal = await byTicket();
    expect(platform.audit.entries.at(-1)).toMatchObject({
      action: 'sandbox:exec',
      resource: `sandbox/${id}`,
      principal: { id: member.principal.id },
    });
    await terminal.close();
  });
});
