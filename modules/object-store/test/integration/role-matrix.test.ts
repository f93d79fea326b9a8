import { randomUUID } from 'node:crypto';
import { renderOpenApiDocument } from '@svc/http';
import type { FakeCaller } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  startManagement,
  type CallOptions,
  type Method,
  type RunningManagement,
} from '../support/running-management.ts';
import { RANKS, ROUTES, type Rank } from '../support/management-routes.ts';
import { testConfig } from '../support/running-store.ts';

/** Left out of the API document because they do nothing. */
const HIDDEN: readonly [Method, string, Rank, body?: unknown][] = [
  ['GET', '/keys/policy', 'writes'],
  ['POST', '/keys/policy', 'writes', {}],
  ['PUT', '/keys/policy/attach', 'writes', {}],
  ['DELETE', '/keys/policy-detach', 'writes'],
];

const VALUES: Readonly<Record<string, string>> = {
  name: 'absent',
  uploadId: 'none',
  n: '1',
  hostname: 'a.example.org',
};

describe('route permissions of the object store', () => {
  let management: RunningManagement;
  let team: string;
  let callers: Record<string, { as: FakeCaller; query: string; rank: Rank }>;

  beforeAll(async () => {
    const limits = { ...testConfig().limits, management_requests_per_second: 100_000 };
    management = await startManagement({ limits });
    await management.call('POST', '/buckets', { body: { name: 'provisions' } });
    const { access, owner } = management;
    team = access.team(owner.workspaceUuid);
    const joined = (role: 'admin' | 'member' | 'guest', rank: Rank) => {
      const as = access.user(role);
      access.join(team, as, role);
      return { as, query: `team_uuid=${team}`, rank };
    };
    const account = (scope: 'read' | 'write' | 'admin', rank: Rank) => ({
      as: access.serviceAccount(owner.workspaceUuid, [scope]),
      query: '',
      rank,
    });
    callers = {
      owner: { as: owner, query: '', rank: 'administers' },
      'team admin': joined('admin', 'administers'),
      member: joined('member', 'writes'),
      guest: joined('guest', 'reads'),
      'sat_ admin': account('admin', 'administers'),
      'sat_ write': account('write', 'writes'),
      'sat_ read': account('read', 'reads'),
    };
  });
  afterAll(() => management.close());

  const fill = (path: string): string => path.replace(/\{(\w+)\}/g, (_whole, name: string) => VALUES[name] ?? '');
  const withQuery = (path: string, query: string): string =>
    query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`;
  const call = (method: Method, path: string, query: string, body: unknown, options: CallOptions) =>
    management.call(method, withQuery(fill(path === '/' ? '' : path), query), {
      ...options,
      ...(body === undefined ? {} : { body }),
    });

  it('are listed here for every route', () => {
    const document = renderOpenApiDocument(management.app);
    const prefix = '/api/v1/workspace/{workspace_uuid}/object-store';
    const documented = Object.entries(JSON.parse(document).paths as Record<string, object>) // the document's own shape
      .filter(([path]) => path.startsWith(prefix))
      .flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.slice(prefix.length) || '/'}`),
      );
    const listed = ROUTES.map(([method, path]) => `${method} ${path.split('?', 1)[0] ?? ''}`);
    expect(documented.toSorted()).toEqual(listed.toSorted());
  });

  it.each([...ROUTES, ...HIDDEN])(
    '%s %s: allowed to callers of at least the rank %s',
    async (method, path, needed, body) => {
      for (const [name, { as, query, rank }] of Object.entries(callers)) {
        const { status } = await call(method, path, query, body, { as });
        const mayCall = RANKS.indexOf(rank) >= RANKS.indexOf(needed);
        expect({ name, isRefused: status === 401 || status === 403 }).toEqual({ name, isRefused: !mayCall });
        expect({ name, isFault: status === 500 }).toEqual({ name, isFault: false });
      }
    },
  );

  it.each([...ROUTES, ...HIDDEN])('%s %s: refused to everyone else', async (method, path, _needed, body) => {
    const { access } = management;
    const revoked = access.user('revoked');
    access.revoke(revoked);
    const outsider = access.user('outsider');
    const foreign = access.serviceAccount(outsider.workspaceUuid, ['admin']);
    const theirs = access.team(outsider.workspaceUuid);
    const wrong = { authorization: 'Bearer nonsense' };
    const status = async (query: string, options: CallOptions): Promise<number> =>
      (await call(method, path, query, body, options)).status;
    expect({
      'no token': await status('', { as: null }),
      'a wrong token': await status('', { as: null, headers: wrong }),
      'a revoked token': await status('', { as: revoked }),
      'an outsider': await status('', { as: outsider }),
      'an outsider who names the team': await status(`team_uuid=${team}`, { as: outsider }),
      'an outsider who names another team': await status(`team_uuid=${theirs}`, { as: outsider }),
      'a service account of another workspace': await status('', { as: foreign }),
      'a guest of the platform': await status('', { as: access.guest() }),
      'a member who names no team': await status('', { as: callers['member']?.as ?? null }),
      'the owner, of a workspace that is none': await status('', { workspace: randomUUID() }),
    }).toEqual({
      'no token': 401,
      'a wrong token': 401,
      'a revoked token': 401,
      'an outsider': 404,
      'an outsider who names the team': 403,
      'an outsider who names another team': 404,
      'a service account of another workspace': 404,
      'a guest of the platform': 404,
      'a member who names no team': 404,
      'the owner, of a workspace that is none': 404,
    });
  });
});
