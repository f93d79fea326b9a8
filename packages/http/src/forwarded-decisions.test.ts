import type { Access, CredentialSource } from '@svc/access';
import { fakeAccess, type FakeAccess, type FakeCaller } from '@svc/testing';
import { beforeEach, expect, it } from 'vitest';
import { ForwardedDecisions } from './forwarded-decisions.ts';

const READ = { action: 'thing:read' } as const;

let access: FakeAccess;
let caller: FakeCaller;
let nowMs: number;
let lookups: number;
let decisions: ForwardedDecisions;

beforeEach(() => {
  access = fakeAccess();
  caller = access.user('owner');
  nowMs = 1_000_000;
  lookups = 0;
  const counted: Access = {
    ...access,
    authenticate: (source) => {
      lookups += 1;
      return access.authenticate(source);
    },
  };
  decisions = new ForwardedDecisions(counted, () => new Date(nowMs));
});

const shown = (by = caller): CredentialSource => ({
  headers: by.headers,
  method: 'GET',
  remoteAddress: '192.0.2.1',
  isSecure: true,
});

it('looks equal requests of half a second up once', async () => {
  const first = await decisions.decide(shown(), READ);
  nowMs += 499;
  expect(await decisions.decide(shown(), READ)).toBe(first);
  // Open requests are rechecked after their last confirmation, so its time must be that of the lookup.
  expect([lookups, first.shownAt.getTime()]).toEqual([1, 1_000_000]);
  nowMs += 1;
  expect((await decisions.decide(shown(), READ)).shownAt.getTime()).toBe(1_000_500);
  expect(lookups).toBe(2);
});

it('refuses a revoked credential half a second after its last confirmation', async () => {
  await decisions.decide(shown(), READ);
  access.revoke(caller);
  nowMs += 500;
  await expect(decisions.decide(shown(), READ)).rejects.toMatchObject({ status: 401 });
});

it('shares no decision between requests that differ in anything that decides', async () => {
  await decisions.decide(shown(), READ);
  const { headers } = shown();
  const others: [CredentialSource, Parameters<typeof decisions.decide>[1]][] = [
    [{ ...shown(), method: 'POST' }, READ],
    [{ ...shown(), isSecure: false }, READ],
    [{ ...shown(), remoteAddress: '192.0.2.2' }, READ],
    [{ ...shown(), headers: { ...headers, cookie: 'a=b' } }, READ],
    [{ ...shown(), headers: { ...headers, upgrade: 'websocket' } }, READ],
    [{ ...shown(), headers: { ...headers, 'x-csrf-token': 'x' } }, READ],
    [{ ...shown(), headers: { ...headers, 'sec-websocket-protocol': 'x' } }, READ],
    [shown(access.user('other')), READ],
    [shown(), { action: 'thing:create' }],
    [shown(), { ...READ, workspaceUuid: caller.workspaceUuid }],
  ];
  for (const [source, asked] of others) await decisions.decide(source, asked);
  expect(lookups).toBe(1 + others.length);
});

it('remembers no refusal', async () => {
  const foreign = { ...READ, workspaceUuid: access.user('other').workspaceUuid };
  await expect(decisions.decide(shown(), foreign)).rejects.toMatchObject({ status: 404 });
  await expect(decisions.decide(shown(), foreign)).rejects.toMatchObject({ status: 404 });
  expect(lookups).toBe(2);
});
