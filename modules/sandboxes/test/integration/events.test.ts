import { EventReader, fakeClock, waitFor, type FakeClock } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { TerminalClient } from '../support/terminal-client.ts';

describe('events of sandboxes', () => {
  let driver: FakeDriver;
  let clock: FakeClock;
  let platform: TestPlatform;
  const readers: EventReader[] = [];

  beforeEach(async () => {
    driver = new FakeDriver();
    clock = fakeClock();
    platform = await startPlatform({
      driver,
      clock,
      config: { events: { kept_days: 1, kept_per_workspace: 10, max_streams: 2 } },
    });
  });
  afterEach(async () => {
    for (const reader of readers.splice(0)) reader.close();
    await platform.dispose();
    await driver.dispose();
  });

  const open = async (path: string, headers: Record<string, string> = {}): Promise<EventReader> => {
    const reader = await EventReader.open(platform.url + path, { ...platform.owner.headers, ...headers });
    readers.push(reader);
    return reader;
  };
  const create = async (name: string): Promise<string> =>
    (await platform.call('POST', '/api/containers', { body: { image: 'busybox', name } })).body['id'];
  const types = (reader: EventReader) => reader.events.map(({ event }) => event);

  it('streams the events of a sandbox live and ends with its deletion', async () => {
    const id = await create('one');
    const workspace = await open('/api/events');
    const own = await open(`/api/containers/${id}/events`);
    expect(own.headers.get('content-type')).toContain('text/event-stream');
    await platform.call('POST', `/api/containers/${id}/stop`);
    await platform.call('POST', `/api/containers/${id}/start`);
    const other = await create('two');
    await platform.call('DELETE', `/api/containers/${id}`);
    await waitFor(() => own.ended);
    expect(types(own)).toEqual(['stopped', 'running', 'deleted']);
    await waitFor(() => workspace.events.length === 5);
    expect(types(workspace)).toEqual(['stopped', 'running', 'created', 'running', 'deleted']);
    expect(workspace.events[0]).toEqual({
      id: '3',
      event: 'stopped',
      data: {
        id: 3,
        sandbox_id: id,
        type: 'stopped',
        at: '2026-01-01T00:00:00.000Z',
        details: { reason: 'STOPPED_BY_USER' },
      },
    });
    expect(workspace.events[2]?.data).toMatchObject({ sandbox_id: other, details: { name: 'two', image: 'busybox' } });
  });

  it('resumes after the last event a client received, even across a platform restart', async () => {
    const first = await open('/api/events');
    await create('one');
    await waitFor(() => first.events.length === 2);
    first.close();
    const id = await create('two');
    await platform.close();
    await platform.reopen();
    const resumed = await open('/api/events', { 'last-event-id': first.events[1]?.id ?? '' });
    await waitFor(() => resumed.events.length === 2);
    expect(resumed.events.map(({ id: number, data }) => [number, data['sandbox_id']])).toEqual([
      ['3', id],
      ['4', id],
    ]);
    const again = await open('/api/events?last_event_id=3');
    await waitFor(() => again.events.length === 1);
    expect(again.events[0]?.id).toBe('4');
  });

  it('pages through stored events, newest first', async () => {
    const id = await create('one');
    await create('two');
    await platform.call('POST', `/api/containers/${id}/stop`);
    const page = await platform.call('GET', '/api/events?format=json&page_size=2');
    expect(page.body).toMatchObject({ count: 2, next_cursor: '4', events: [{ id: 5, type: 'stopped' }, { id: 4 }] });
    const rest = await platform.call('GET', '/api/events?format=json&page_size=10&cursor=4');
    expect(rest.body['events'].map((event: { id: number }) => event.id)).toEqual([3, 2, 1]);
    expect(rest.body['next_cursor']).toBeNull();
    const own = await platform.call('GET', `/api/sandboxes/${id}/events?format=json`);
    expect(own.body['events'].map((event: { type: string }) => event.type)).toEqual(['stopped', 'running', 'created']);
    expect(await platform.call('GET', '/api/events?format=json&cursor=x')).toMatchObject({
      status: 400,
      body: { code: 'INVALID_FIELD', details: { field: 'cursor' } },
    });
  });

  it('reports terminals, and why a sandbox failed', async () => {
    const id = await create('one');
    const reader = await open(`/api/containers/${id}/events`);
    const terminal = await TerminalClient.open(platform.url, id, { headers: platform.owner.headers });
    await terminal.close();
    await waitFor(async () => {
      await clock.advance(100);
      return reader.events.length === 2;
    });
    expect(types(reader)).toEqual(['terminal_opened', 'terminal_closed']);
    await driver.crash(id, true);
    await waitFor(() => reader.events.length === 4);
    expect(reader.events.slice(2).map(({ event, data }) => [event, data['details']])).toEqual([
      ['oom_killed', { scope: 'sandbox' }],
      ['error', { code: 'OOM_KILLED', message: 'The sandbox ran out of memory' }],
    ]);
  });

  it('prunes events above the limit and reports the gap', async () => {
    const id = await create('one');
    for (let count = 0; count < 6; count += 1) {
      await platform.call('POST', `/api/containers/${id}/stop`);
      await platform.call('POST', `/api/containers/${id}/start`);
    }
    await clock.advance(300_000);
    await waitFor(
      async () => (await platform.call('GET', '/api/events?format=json&page_size=500')).body['count'] === 10,
    );
    const late = await open('/api/events', { 'last-event-id': '1' });
    await waitFor(() => late.events.length === 11);
    expect(late.events[0]).toMatchObject({ event: 'gap', data: { after: 1, oldest: 5 } });
  });

  it('sends comments while idle and limits the number of open streams', async () => {
    const first = await open('/api/events');
    await open('/api/events');
    expect((await open('/api/events')).status).toBe(429);
    await waitFor(async () => {
      await clock.advance(1000);
      return first.comments > 0;
    });
    first.close();
    await waitFor(async () => (await open('/api/events')).status === 200);
  });

  it('ends its streams when the platform shuts down', async () => {
    const reader = await open('/api/events');
    await platform.close();
    await waitFor(() => reader.ended);
    await platform.reopen();
  });

  it('requires read access to the workspace', async () => {
    await create('mine');
    expect((await platform.call('GET', '/api/events', { caller: null })).status).toBe(401);
    const headers = { authorization: 'Bearer svc_wrong' };
    expect((await platform.call('GET', '/api/events', { caller: null, headers })).status).toBe(401);
    const stranger = platform.access.user('stranger@example.org');
    const own = await platform.call('GET', '/api/events?format=json', { caller: stranger });
    expect(own.body).toEqual({ events: [], count: 0, next_cursor: null });
    const query = `?format=json&workspace_uuid=${platform.owner.workspaceUuid}`;
    expect((await platform.call('GET', `/api/events${query}`, { caller: stranger })).status).toBe(404);
  });
});
