import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CLOSE_CODES } from '@svc/protocol';
import { fakeClock, temporaryFolder, waitFor } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestAgent, TestPlatform, type TestAgent, type TestPlatformOptions } from '../../support/index.ts';

let clock: ReturnType<typeof fakeClock>;
let platform: TestPlatform;
const agents: TestAgent[] = [];

beforeEach(() => {
  clock = fakeClock();
});
afterEach(async () => {
  for (const each of agents.splice(0)) await each.stop();
  await platform.close();
});

async function start(options: TestPlatformOptions = {}, environment: Record<string, string> = {}): Promise<TestAgent> {
  platform = await TestPlatform.start(options);
  return connectAgent(environment);
}

async function connectAgent(environment: Record<string, string> = {}): Promise<TestAgent> {
  const test = await startTestAgent({ platformUrl: platform.url, clock, environment, random: () => 0.5 });
  agents.push(test);
  return test;
}

/** Advances the clock until the condition holds, so that pauses between attempts take no time. */
function sooner<Value>(condition: () => Value): ReturnType<typeof waitFor<Value>> {
  return waitFor(async () => {
    await clock.advance(500);
    return condition();
  });
}

describe('the channel', () => {
  it('connects with the token and the cluster id, and sends hello', async () => {
    await start();
    const hello = await platform.waitForMessage('hello');
    expect(platform.handshakes[0]).toMatchObject({
      authorization: 'Bearer svc_agt_token_of_the_test',
      'x-cluster-id': 'cls-123abc',
    });
    expect(hello).toMatchObject({
      protocol: 1,
      agent_version: '1.2.3',
      epoch: 1,
      in_flight: [],
      cluster_name: 'test-cluster',
    });
    await platform.waitForMessage('heartbeat');
    expect(Object.keys(platform.connection.envelopes[0] ?? {})).toEqual(['type', 'id', 'timestamp', 'payload']);
  });

  it('sends a heartbeat at once and then every 30 s, whatever Kubernetes does', async () => {
    await start();
    await platform.waitForMessage('heartbeat');
    await clock.advance(30_000);
    await waitFor(() => platform.messages('heartbeat').length === 2);
    expect(platform.messages('heartbeat')[0]).toEqual({
      status: 'unhealthy',
      metrics: { cpu_usage: 0, memory_usage: 0, active_pods: 0 },
    });
  });

  it('logs the clock difference to the platform once, and works regardless', async () => {
    const test = await start(); // the test's clock is months behind its platform's
    await platform.waitForMessage('heartbeat');
    const told = () => test.logLines.filter((line) => line.includes('clocks of agent and platform differ'));
    const skew = (await (await test.get('/metrics')).text()).match(/^svc_agent_clock_skew_seconds (\d+)$/m)?.[1];
    expect(Number(skew)).toBeGreaterThan(86_400);
    platform.send('exec', { pod: 'web', namespace: 'default', command: ['ls'] }, 'cmd-1');
    await platform.result('cmd-1');
    await platform.waitForMessage('event', ({ event_type: type }) => type === 'agent_started');
    platform.connection.socket.terminate();
    await sooner(() => platform.messages('hello').length === 2);
    await platform.waitForMessage('heartbeat', () => platform.messages('heartbeat').length === 2);
    expect(told()).toHaveLength(1);
  });

  it('works with a platform that implements only the contract', async () => {
    const test = await start({ mode: 'contract' });
    await platform.waitForMessage('hello');
    await clock.advance(5000);
    await platform.waitForMessage('event', (event) => event.event_type === 'agent_started');
    platform.send('exec', { pod: 'web', namespace: 'default', container: 'web', command: ['ls'] }, 'cmd-1');
    expect(await platform.result('cmd-1')).toMatchObject({ status: 'failed', command: 'exec' });
    expect(test.logLines.join('')).toContain('"mode":"contract"');
    // Messages to such a platform count as delivered once its silence is proof: it never confirms any.
    await sooner(async () => (await (await test.get('/metrics')).text()).includes('svc_agent_outbox_messages 0'));
    await sooner(() => {
      const [last] = platform.messages('hello').slice(-1);
      if ((last?.epoch ?? 0) >= 2 && last?.in_flight.length === 0) return true;
      for (const { socket, received } of platform.connections) if (received.length > 0) socket.terminate();
      return false;
    });
  });

  it('accepts a late welcome', async () => {
    const test = await start({ mode: 'contract' });
    await platform.waitForMessage('hello');
    await clock.advance(5000);
    await platform.waitForMessage('event');
    platform.send('welcome', {
      protocol: 1,
      session_id: 'late',
      resumed: false,
      last_received_seq: 0,
      server_time: new Date().toISOString(),
      heartbeat_interval_seconds: 5,
      limits: { messages_per_minute: 1000, messages_burst: 100, frame_size_bytes: 1_048_576 },
    });
    platform.connection.socket.terminate();
    await sooner(() => platform.messages('hello').length === 2);
    expect(test.agent.httpPort).toBeGreaterThan(0);
  });

  it('reconnects after a cut, with a new epoch and the same instance id', async () => {
    await start();
    await platform.waitForMessage('heartbeat');
    for (let round = 2; round <= 6; round += 1) {
      platform.connection.socket.terminate();
      await sooner(() => platform.messages('hello').length === round);
    }
    const hellos = platform.messages('hello');
    expect(hellos.map(({ epoch }) => epoch)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(new Set(hellos.map(({ instance_id: id }) => id)).size).toBe(1);
    expect(hellos[1]?.session_id).toBe('session-1');
  });

  it('drops an unresponsive link within 25 s', async () => {
    await start();
    await platform.waitForMessage('heartbeat');
    const [first] = platform.connections;
    first?.socket.pause(); // still connected, but neither reads nor responds
    await clock.advance(15_000);
    await clock.advance(10_000);
    await sooner(() => platform.connections.length === 2);
    expect(platform.connections).toHaveLength(2);
  });

  it('keeps a link that returns pongs', async () => {
    const test = await start();
    await platform.waitForMessage('heartbeat');
    for (let round = 0; round < 6; round += 1) {
      const before = await lastPing(test);
      await clock.advance(15_000);
      await waitFor(async () => (await lastPing(test)) !== before);
    }
    expect(platform.connections).toHaveLength(1);
  });

  it('runs a repeated command id only once: it answers duplicate and the stored result', async () => {
    await start();
    await platform.waitForMessage('heartbeat');
    const payload = { pod: 'web', namespace: 'default', command: ['ls'] };
    platform.send('exec', payload, 'cmd-1');
    const first = await platform.result('cmd-1');
    platform.send('exec', payload, 'cmd-1');
    await platform.waitForMessage('command_ack', (ack) => ack.state === 'duplicate');
    await waitFor(() => platform.messages('command_result').length === 2);
    expect(platform.messages('command_result')[1]).toEqual(first);
  });

  it('resends a result until it is acknowledged, across connections and restarts', async () => {
    await using state = await temporaryFolder();
    platform = await TestPlatform.start({ acknowledgeResults: false });
    const options = { platformUrl: platform.url, clock, stateDir: state.path, random: () => 0.1 };
    const first = await startTestAgent(options);
    await platform.waitForMessage('heartbeat');
    platform.send('exec', { pod: 'web', namespace: 'default', command: ['ls'] }, 'cmd-1');
    const result = await platform.result('cmd-1');
    platform.connection.socket.terminate();
    await sooner(() => platform.messages('command_result').length === 2);
    expect(platform.messages('hello')[1]?.in_flight).toEqual(['cmd-1']);
    const stopping = first.stop();
    await stopping;
    const second = await startTestAgent(options);
    agents.push(second);
    await waitFor(() => platform.messages('command_result').length >= 3);
    expect(platform.messages('command_result').at(-1)).toEqual(result);
    platform.send('result_ack', { command_ids: ['cmd-1'] });
    // Messages are read in order: the reply to this one shows that the acknowledgement was read.
    platform.sendText(JSON.stringify({ type: 'gossip', id: 'g', timestamp: new Date().toISOString(), payload: {} }));
    await platform.waitForMessage('error');
    platform.connection.socket.terminate();
    await sooner(() => platform.messages('hello').at(-1)?.in_flight.length === 0);
  });

  it('keeps events while the platform is away, and resends each unacknowledged one once', async () => {
    platform = await TestPlatform.start({ acknowledgeEvents: false });
    await connectAgent();
    await platform.waitForMessage('event', ({ event_type: type }) => type === 'agent_started');
    platform.connection.socket.terminate();
    await sooner(() => platform.messages('event').length === 2);
    expect(platform.messages('event').map(({ seq }) => seq)).toEqual([1, 1]);
    expect(platform.messages('hello')[1]?.outbox).toEqual({ first: 1, last: 1 });
  });

  it('keeps events on disk across a restart and continues their numbering', async () => {
    await using state = await temporaryFolder();
    platform = await TestPlatform.start();
    platform.refusal = { status: 503, body: '' };
    const options = { platformUrl: platform.url, clock, stateDir: state.path, random: () => 0.1 };
    const first = await startTestAgent(options);
    await first.stop();
    platform.refusal = null;
    const second = await startTestAgent(options);
    agents.push(second);
    await platform.waitForMessage('event', ({ event_type: type }) => type === 'agent_started');
    const told = platform.messages('event').map(({ seq, event_type: type }) => [seq, type]);
    expect(told).toEqual([
      [2, 'agent_stopping'], // the second start replaces the first
      [3, 'agent_started'],
    ]);
    await second.stop();
    const third = await startTestAgent(options);
    agents.push(third);
    expect(await platform.waitForMessage('event', ({ seq }) => seq === 5)).toMatchObject({
      event_type: 'agent_started',
    });
    const hellos = platform.messages('hello');
    expect(new Set(hellos.map(({ outbox_id: id }) => id)).size).toBe(1);
    expect(new Set(hellos.map(({ instance_id: id }) => id)).size).toBe(2);
  });

  it('does not resend stored events', async () => {
    await start();
    await platform.waitForMessage('event');
    platform.connection.socket.terminate();
    await sooner(() => platform.messages('hello').length === 2);
    await waitFor(() => platform.messages('heartbeat').length >= 2);
    expect(platform.messages('event')).toHaveLength(1);
  });
});

describe('an unusable message', () => {
  it('of an unknown type is answered once and does not close the connection', async () => {
    await start();
    await platform.waitForMessage('heartbeat');
    for (let index = 0; index < 5; index += 1) {
      platform.sendText(
        JSON.stringify({ type: 'gossip', id: `m-${index}`, timestamp: '2026-01-01T00:00:00Z', payload: {} }),
      );
    }
    const error = await platform.waitForMessage('error');
    expect(error).toMatchObject({ code: 'UNKNOWN_MESSAGE_TYPE', message_id: 'm-0' });
    platform.send('exec', { pod: 'a', namespace: 'b', command: ['c'] }, 'cmd-1');
    await platform.result('cmd-1');
    expect(platform.messages('error')).toHaveLength(1);
  });

  it.each([
    ['deploy', { manifest: 'x', namespace: 'default' }],
    ['exec', { pod: 'a', namespace: 'b', command: 'ls' }],
    ['logs', { pod: 'a' }],
  ] as const)('as %s with an invalid payload gets an ack and one result', async (type, payload) => {
    await start();
    await platform.waitForMessage('heartbeat');
    platform.sendText(JSON.stringify({ type, id: 'cmd-x', timestamp: '2026-01-01T00:00:00Z', payload }));
    expect(await platform.result('cmd-x')).toMatchObject({
      command: type,
      status: 'failed',
      error: { code: 'INVALID_REQUEST', details: { field: expect.stringContaining('payload') as string } },
    });
    expect(platform.messages('command_ack')).toEqual([
      expect.objectContaining({ command_id: 'cmd-x', state: 'rejected' }) as object,
    ]);
  });

  it('is tolerated in any form, up to a limit', async () => {
    await start();
    await platform.waitForMessage('heartbeat');
    const bad = ['', 'x', '[]', '{"type":"deploy"}', `{"a":${'['.repeat(1000)}`];
    for (const text of bad) platform.sendText(text);
    platform.connection.socket.send(Buffer.from([0, 1, 2]));
    await platform.waitForMessage('error', ({ code }) => code === 'MALFORMED_ENVELOPE');
    platform.send('exec', { pod: 'a', namespace: 'b', command: ['c'] }, 'cmd-1');
    await platform.result('cmd-1');
    expect(platform.connections).toHaveLength(1);
    for (let index = 0; index < 60; index += 1) platform.sendText('x');
    await waitFor(() => platform.connections[0]?.closeCode === CLOSE_CODES.malformed);
    await sooner(() => platform.connections.length === 2);
  });

  it('that exceeds the frame size ends the connection, not the agent', async () => {
    await start();
    await platform.waitForMessage('heartbeat');
    platform.sendText('x'.repeat(1_100_000));
    await waitFor(() => platform.connections[0]?.closeCode !== null);
    await sooner(() => platform.connections.length === 2);
  });

  it('above the rate limit is queued, not lost', async () => {
    await start();
    await platform.waitForMessage('heartbeat');
    for (let index = 0; index < 150; index += 1) {
      platform.send('exec', { pod: 'a', namespace: 'b', command: ['c'] }, `cmd-${index}`);
    }
    await sooner(() => new Set(platform.messages('command_result').map(({ command_id: id }) => id)).size === 150);
    expect(platform.messages('error').map(({ code }) => code)).toContain('RATE_LIMITED');
    expect(platform.connections).toHaveLength(1);
  });
});

describe('a refusal by the platform', () => {
  it('is logged with its status and message, but without the token', async () => {
    platform = await TestPlatform.start();
    platform.refusal = {
      status: 503,
      body: 'maintenance; your token svc_agt_token_of_the_test was seen',
      headers: { 'Retry-After': '7' },
    };
    const test = await connectAgent();
    const line = await waitFor(() => test.logLines.find((each) => each.includes('no connection to the platform')));
    expect(line).toContain('the platform answered 503: maintenance');
    expect(test.logLines.join('')).not.toContain('svc_agt_token_of_the_test');
    const { retry_in_ms: retryInMs } = JSON.parse(line) as { retry_in_ms: number };
    expect(retryInMs).toBeGreaterThanOrEqual(7000);
    platform.refusal = null;
    await sooner(() => platform.connections.length === 1);
  });

  it('of the token makes the agent unauthorized until its token file changes', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'token');
    await writeFile(file, 'old-token\n');
    platform = await TestPlatform.start({ token: 'new-token' });
    const test = await connectAgent({ SVC_TOKEN_FILE: folder.path });
    await waitFor(async () => (await (await test.get('/readyz')).text()).includes('"api_connection":"unauthorized"'));
    await writeFile(file, 'new-token\n');
    test.agent.reconnectNow();
    await waitFor(() => platform.connections.length === 1);
    expect(platform.handshakes.map(({ authorization }) => authorization)).toEqual([
      'Bearer old-token',
      'Bearer new-token',
    ]);
  });

  it('by a close code is honored: replaced agents do not fight', async () => {
    await start();
    await platform.waitForMessage('heartbeat');
    platform.connection.socket.close(CLOSE_CODES.replaced, 'another agent came');
    await waitFor(() => platform.connections[0]?.closeCode !== null);
    await clock.advance(29_000);
    expect(platform.connections).toHaveLength(1);
    await sooner(() => platform.connections.length === 2);
  });
});

describe('the end of a connection', () => {
  it('does not affect readiness if the reconnect takes less than three heartbeats', async () => {
    const test = await start();
    await platform.waitForMessage('heartbeat');
    platform.refusal = { status: 503, body: '' };
    platform.connection.socket.terminate();
    const state = async () => (await (await test.get('/readyz')).text()).match(/"api_connection":"(\w+)"/)?.[1];
    await waitFor(async () => (await (await test.get('/livez')).text()).includes('"disconnected"'));
    await clock.advance(80_000);
    expect(await state()).toBe('ok');
    await clock.advance(20_000);
    expect(await state()).toBe('disconnected');
  });

  it('is announced when the agent stops, and leaves no timer', async () => {
    const test = await start();
    await platform.waitForMessage('heartbeat');
    await agents.pop()?.stop();
    await waitFor(() => platform.connections[0]?.closeCode === CLOSE_CODES.goingAway);
    expect(platform.messages('event').map(({ event_type: type }) => type)).toContain('agent_stopping');
    expect(clock.pendingTimers()).toBe(0);
    await expect(test.get('/healthz')).rejects.toThrow();
  });
});

async function lastPing(test: TestAgent): Promise<unknown> {
  const body = (await (await test.get('/livez')).json()) as { components: { api_client: { last_ping: unknown } } };
  return body.components.api_client.last_ping;
}
