import { EventReader, waitFor } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectAgent, type PlayedAgent } from '../support/played-agent.ts';
import { startRig, type Rig } from '../support/rig.ts';

const MANIFEST = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';

describe('cluster streams', () => {
  let rig: Rig;
  let agent: PlayedAgent;
  let cluster: Awaited<ReturnType<Rig['addCluster']>>;
  let base: string;
  const readers: EventReader[] = [];
  beforeEach(async () => {
    rig = await startRig({ config: { max_streams: 2 } });
    cluster = await rig.addCluster();
    agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    agent.hello('instance-1');
    await agent.next('welcome');
    base = `${rig.url}/v1/clusters/production`;
  });
  afterEach(async () => {
    for (const reader of readers.splice(0)) reader.close();
    await rig.close();
  });

  const open = async (path: string, headers: Record<string, string> = {}): Promise<EventReader> => {
    const reader = await EventReader.open(base + path, { ...rig.owner.headers, ...headers });
    readers.push(reader);
    return reader;
  };
  const deploy = async (): Promise<{ id: string; commandId: string }> => {
    const { body } = await rig.call('POST', '/v1/clusters/production/deploy', {
      body: { project_id: 'shop', namespace: 'default', manifest: MANIFEST },
    });
    return { id: String(body['id']), commandId: String(body['command_id']) };
  };

  it('delivers each log line once, even if the agent resends it, and says why the logs ended', async () => {
    const answer = fetch(`${base}/logs?pod=web&namespace=default&follow=true`, { headers: rig.owner.headers });
    const { id } = await agent.next('logs');
    const say = (from: PlayedAgent, seq: number, data: string): string =>
      from.say('command_output', { command_id: id, seq, stream: 'log', encoding: 'utf8', data });
    say(agent, 1, 'one\n');
    await waitFor(() => agent.of('output_ack').length > 0);
    agent.cut();
    agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    agent.hello('instance-1', [id]);
    say(agent, 1, 'one\n');
    say(agent, 2, 'two\n');
    await waitFor(() => JSON.stringify(agent.of('output_ack')).includes('"seq":2'));
    agent.result(id, 'lost', { command: 'logs', error: { code: 'LOST', message: 'The agent restarted' } });
    expect(await (await answer).text()).toBe('one\ntwo\n[the logs ended: The agent restarted]\n');
  });

  it('follows a deployment to its result, and resumes after the last event received', async () => {
    const { id, commandId } = await deploy();
    const first = await open(`/deployments/${id}/events`);
    await agent.next('deploy');
    agent.say('command_ack', { command_id: commandId, command: 'deploy', state: 'accepted' });
    agent.say('command_progress', { command_id: commandId, seq: 1, phase: 'apply', message: 'one' });
    await waitFor(() => first.events.length === 4);
    first.close();
    agent.say('command_progress', { command_id: commandId, seq: 2, phase: 'wait', message: 'two' });
    agent.result(commandId);
    await agent.next('result_ack');
    const lastSeen = first.events.at(-1)?.id ?? '';
    const second = await open(`/deployments/${id}/events`, { 'last-event-id': lastSeen });
    await waitFor(() => second.ended);
    const told = [...first.events, ...second.events].map(({ event, data }) => [event, data['status'], data['message']]);
    expect(told).toEqual([
      ['state', 'queued', undefined],
      ['state', 'dispatched', undefined],
      ['state', 'running', undefined],
      ['progress', 'running', 'one'],
      ['progress', 'running', 'two'],
      ['result', 'succeeded', undefined],
    ]);
    expect(second.events.at(-1)?.data).toMatchObject({ id, result: { duration_ms: 5 } });
    const third = await open(`/deployments/${id}/events`, { 'last-event-id': second.events.at(-1)?.id ?? '' });
    expect(third.status).toBe(204); // tells a browser not to reconnect
  });

  it('streams events live, and missed ones after a reconnect', async () => {
    const event = { event_type: 'pod_created', namespace: 'default', details: {} };
    agent.say('event', { ...event, resource: 'pod/old', seq: 1 }, 'e-1');
    await agent.next('event_ack');
    const live = await open('/events?event_type=pod_created');
    agent.say('event', { ...event, resource: 'pod/a', seq: 2 }, 'e-2');
    agent.say('event', { ...event, event_type: 'scaled', resource: 'deployment/a', seq: 3 }, 'e-3');
    await waitFor(() => live.events.length === 1);
    expect(live.events[0]).toMatchObject({ event: 'pod_created', data: { resource: 'pod/a' } });
    live.close();
    agent.say('event', { ...event, resource: 'pod/b', seq: 4 }, 'e-4');
    await agent.next('event_ack', 4);
    const resumed = await open('/events', { 'last-event-id': live.events[0]?.id ?? '' });
    await waitFor(() => resumed.events.length === 2);
    expect(resumed.events.map(({ data }) => data['resource'])).toEqual(['deployment/a', 'pod/b']);
    const everything = await rig.call('GET', '/v1/clusters/production/events?page_size=3');
    expect(everything.body['events']).toHaveLength(3);
    const cursor = String(everything.body['next_cursor']);
    const rest = await rig.call('GET', `/v1/clusters/production/events?cursor=${cursor}`);
    expect(rest.body).toMatchObject({ events: [{ resource: 'pod/old' }], next_cursor: null });
  });

  it('limits open streams and frees the slot of one that ends', async () => {
    const first = await open('/events');
    await open('/events');
    expect((await open('/events')).status).toBe(429);
    first.close();
    await waitFor(async () => (await open('/events')).status === 200);
  });

  it('ends its streams when the module stops', async () => {
    const { id } = await deploy();
    const reader = await open(`/deployments/${id}/events`);
    await waitFor(() => reader.events.length > 0);
    await rig.module.close();
    await waitFor(() => reader.ended);
  });

  it('resumes logs after the last line when the agent restarts, until the reader disconnects', async () => {
    const abort = new AbortController();
    const query = 'pod=web-1&namespace=default&follow=true&tail_lines=5&limit_bytes=100';
    const calling = fetch(`${base}/logs?${query}`, { headers: rig.owner.headers, signal: abort.signal });
    const first = await agent.next('logs');
    const say = (commandId: string, seq: number, data: string, position: string): string =>
      agent.say('command_output', { command_id: commandId, seq, stream: 'log', encoding: 'utf8', data, position });
    say(first.id, 1, 'one\n', 'behind one');
    const reader = (await calling).body?.getReader();
    let text = '';
    const read = async (until: string): Promise<void> => {
      while (!text.includes(until)) text += Buffer.from((await reader?.read())?.value ?? []).toString();
    };
    await read('one\n');
    agent.cut();
    agent = await connectAgent({ port: rig.port, token: cluster.token, clusterId: cluster.id });
    agent.hello('instance-2', [first.id]);
    agent.result(first.id, 'lost', { command: 'logs', error: { code: 'LOST', message: 'The agent restarted' } });
    const second = await agent.next('logs');
    expect(second.payload).toMatchObject({ pod: 'web-1', follow: true, resume_after: 'behind one', limit_bytes: 96 });
    expect(second.payload).not.toHaveProperty('tail_lines');
    say(second.id, 1, 'two\n', 'behind two');
    await read('two\n');
    agent.result(second.id, 'cancelled', { command: 'logs', error: { code: 'CANCELLED', message: 'it stops' } });
    await waitFor(() => agent.of('logs').length === 2);
    const third = agent.of('logs')[1];
    expect(third?.payload).toMatchObject({ resume_after: 'behind two' });
    say(String(third?.id), 1, 'three\n', 'behind three');
    await read('three\n');
    expect(text).toBe('one\ntwo\nthree\n');
    abort.abort();
    expect(await agent.next('cancel')).toMatchObject({ payload: { command_id: third?.id } });
  });

  it("sends each chunk's end position, and resumes after it for a returning reader", async () => {
    const reader = open('/logs?pod=web-1&namespace=default&follow=true&resume_after=behind%20one');
    const { id, payload } = await agent.next('logs');
    expect(payload).toMatchObject({ follow: true, resume_after: 'behind one' });
    const output = { command_id: id, stream: 'log', encoding: 'utf8' };
    agent.say('command_output', { ...output, seq: 1, data: 'two\n', position: 'behind two' });
    agent.say('command_output', { ...output, seq: 2, data: 'three\n' });
    const { events } = await reader;
    await waitFor(() => events.length === 2);
    expect(events.map(({ data }) => data)).toEqual([{ text: 'two\n', position: 'behind two' }, { text: 'three\n' }]);
  });

  it('gives up on an agent whose logs fail every time', async () => {
    const answer = fetch(`${base}/logs?pod=web-1&namespace=default&follow=true`, { headers: rig.owner.headers });
    let asked = 0;
    await waitFor(async () => {
      const commands = agent.of('logs');
      for (const { id } of commands.slice(asked)) {
        agent.result(id, 'lost', { command: 'logs', error: { code: 'LOST', message: 'The agent restarted' } });
      }
      asked = commands.length;
      return asked === 6;
    });
    expect(await (await answer).text()).toBe('[the logs ended: The agent restarted]\n');
  });

  it('streams logs as text, and cancels when the reader disconnects', async () => {
    const abort = new AbortController();
    const calling = fetch(`${base}/logs?pod=web-1&namespace=default&follow=true&tail_lines=5`, {
      headers: rig.owner.headers,
      signal: abort.signal,
    });
    const logs = await agent.next('logs');
    expect(logs.payload).toMatchObject({ pod: 'web-1', namespace: 'default', follow: true, tail_lines: 5 });
    const output = { command_id: logs.id, stream: 'log', encoding: 'utf8' };
    agent.say('command_output', { ...output, seq: 0, data: '' });
    const response = await calling; // a quiet container: the response starts before the first line
    agent.say('command_output', { ...output, seq: 1, data: 'first line\n' });
    expect(response.headers.get('content-type')).toContain('text/plain');
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first line\n');
    agent.say('command_output', { ...output, seq: 2, data: 'second line\n', dropped_bytes: 7, dropped_lines: 3 });
    let text = '';
    while (!text.includes('second line')) text += Buffer.from((await reader?.read())?.value ?? []).toString();
    expect(text).toContain('7 bytes were dropped');
    expect(text).toContain('3 lines were dropped');
    abort.abort();
    expect(await agent.next('cancel')).toMatchObject({ payload: { command_id: logs.id } });
  });

  it.each([
    ['pod', { pod: '../web', namespace: 'default' }],
    ['namespace', { pod: 'web-1', namespace: 'Shop!' }],
  ])('refuses an invalid %s before it reaches the agent', async (field, place) => {
    const logs = await rig.call('GET', `/v1/clusters/production/logs?${new URLSearchParams(place).toString()}`);
    const exec = await rig.call('POST', '/v1/clusters/production/exec', { body: { ...place, command: ['true'] } });
    for (const { status, body } of [logs, exec]) {
      expect({ status, body }).toMatchObject({
        status: 400,
        body: { error: { code: 'INVALID_REQUEST', details: { field } } },
      });
    }
  });

  it("maps an agent's refusal to the matching HTTP status", async () => {
    const calling = rig.call('GET', '/v1/clusters/production/logs?pod=ghost&namespace=default');
    const { id } = await agent.next('logs');
    agent.result(id, 'failed', { command: 'logs', error: { code: 'NOT_FOUND', message: 'no pod ghost' } });
    const { status, body } = await calling;
    expect(status).toBe(404);
    expect(body).toMatchObject({ error: { code: 'NOT_FOUND', message: 'no pod ghost' } });
  });

  it('truncates the output of an exec to its limit, and streams it', async () => {
    const { body } = await rig.call('POST', '/v1/clusters/production/exec', {
      body: { pod: 'web-1', namespace: 'default', command: ['cat', 'big'] },
    });
    const { id } = await agent.next('exec');
    const output = { command_id: id, stream: 'stdout', encoding: 'utf8', data: 'x'.repeat(400_000) };
    for (const seq of [1, 2, 3, 4]) agent.say('command_output', { ...output, seq });
    agent.result(id, 'succeeded', { command: 'exec' });
    await agent.next('result_ack');
    const reader = await open(`/commands/${String(body['id'])}/events`);
    await waitFor(() => reader.ended);
    expect(reader.events.filter(({ event }) => event === 'output')).toHaveLength(2);
    expect(reader.events.at(-1)).toMatchObject({ event: 'result', data: { status: 'succeeded' } });
  });

  it('passes input and terminal size to a running exec, and refuses what it was not started with', async () => {
    const run = async (extra: object): Promise<string> => {
      const body = { pod: 'web-1', namespace: 'default', command: ['sh'], ...extra };
      return String((await rig.call('POST', '/v1/clusters/production/exec', { body })).body['id']);
    };
    const send = (id: string, what: string, body: object) =>
      rig.call('POST', `/v1/clusters/production/commands/${id}/${what}`, { body });
    const id = await run({ stdin: true, tty: true, rows: 24, cols: 80 });
    expect((await agent.next('exec')).payload).toMatchObject({ stdin: true, tty: true, rows: 24, cols: 80 });
    agent.say('command_ack', { command_id: id, command: 'exec', state: 'accepted' });
    expect((await send(id, 'stdin', { data: 'ls\n' })).status).toBe(204);
    expect((await send(id, 'stdin', { data: '', eof: true })).status).toBe(204);
    expect((await send(id, 'resize', { rows: 30, cols: 100 })).status).toBe(204);
    const [first, last] = [(await agent.next('stdin')).payload, (await agent.next('stdin', 2)).payload];
    expect(first).toMatchObject({ command_id: id, data: 'ls\n' });
    expect(last).toMatchObject({ command_id: id, eof: true });
    expect(Number(last['seq'])).toBeGreaterThan(Number(first['seq']));
    expect((await agent.next('resize')).payload).toEqual({ command_id: id, rows: 30, cols: 100 });
    agent.result(id, 'succeeded', { command: 'exec' });
    await agent.next('result_ack');
    const late = await send(id, 'stdin', { data: 'x' });
    expect(late).toMatchObject({ status: 409, body: { error: { code: 'COMMAND_NOT_RUNNING' } } });
    const plain = await run({});
    await agent.next('exec', 2);
    expect((await send(plain, 'stdin', { data: 'x' })).body).toMatchObject({
      error: { details: { reason: 'it was started without stdin' } },
    });
    expect((await send(plain, 'resize', { rows: 1, cols: 1 })).status).toBe(409);
  });
});
