import { describe, expect, it } from 'vitest';
import { createClient } from './client.ts';
import { UnexpectedAnswerError } from './errors.ts';

interface Call {
  method: string;
  url: string;
  body: unknown;
}

/** Records requests and returns the given response; `fetch` is a port of the SDK. */
function recordingClient(answer: unknown) {
  const calls: Call[] = [];
  const fetch = (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const body = typeof init.body === 'string' ? (JSON.parse(init.body) as unknown) : null;
    const url = input instanceof Request ? input.url : input.toString();
    calls.push({ method: init.method ?? 'GET', url: url.replace('http://platform', ''), body });
    return Promise.resolve(Response.json(answer));
  };
  return { calls, svc: createClient({ baseUrl: 'http://platform', credential: { kind: 'none' }, fetch }) };
}

describe('API clients', () => {
  it('give every list the same shape', async () => {
    const { svc, calls } = recordingClient({ tokens: [{ id: '1' }], next_cursor: 'abc' });
    expect(await svc.accounts.tokens({ pageSize: 1 })).toEqual({ items: [{ id: '1' }], nextCursor: 'abc' });
    expect(calls).toEqual([{ method: 'GET', url: '/api/tokens?page_size=1', body: null }]);
  });

  it('reject a response without the expected list', async () => {
    const { svc } = recordingClient({ things: [] });
    await expect(svc.teams.list()).rejects.toBeInstanceOf(UnexpectedAnswerError);
  });

  it('encode path segments', async () => {
    const { svc, calls } = recordingClient({});
    await svc.teams.setRole('a/b', '../me', 'admin');
    expect(calls[0]).toEqual({
      method: 'PATCH',
      url: '/api/v1/teams/a%2Fb/members/..%2Fme',
      body: { role: 'admin' },
    });
  });

  it('send the team of a workspace only if there is one', async () => {
    const { svc, calls } = recordingClient({});
    await svc.platform.status({ workspaceUuid: 'w' });
    await svc.platform.status({ workspaceUuid: 'w', teamUuid: 't' });
    expect(calls.map(({ url }) => url)).toEqual([
      '/api/v1/platform/status?workspace_uuid=w',
      '/api/v1/platform/status?workspace_uuid=w&team_uuid=t',
    ]);
  });

  it('drain a node, and end the drain', async () => {
    const { svc, calls } = recordingClient({});
    await svc.nodes.drain('a/b');
    await svc.nodes.undrain('c');
    expect(calls.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /api/v1/admin/nodes/a%2Fb/drain',
      'POST /api/v1/admin/nodes/c/undrain',
    ]);
  });

  it('move a workspace out of its team with an explicit null', async () => {
    const { svc, calls } = recordingClient({});
    await svc.workspaces.move({ workspaceUuid: 'w' }, null);
    expect(calls[0]?.body).toEqual({ team_uuid: null });
  });
});
