import { createLogger } from '@svc/telemetry';
import { fakeClock, temporaryFolder, waitFor } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEventState } from '../../../src/state/event-state.ts';
import { startTestAgent, TestPlatform, type TestAgent, type TestPlatformOptions } from '../../support/index.ts';

const WELCOME = {
  protocol: 1,
  session_id: 'session-of-the-test',
  resumed: false,
  last_received_seq: 0,
  server_time: '2026-01-01T00:00:00.000Z',
  heartbeat_interval_seconds: 30,
  limits: { messages_per_minute: 1000, messages_burst: 100, frame_size_bytes: 1_048_576 },
};

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

async function start(options: TestPlatformOptions, stateDir?: string): Promise<TestAgent> {
  platform = await TestPlatform.start(options);
  const state = stateDir === undefined ? {} : { stateDir };
  const test = await startTestAgent({ platformUrl: platform.url, clock, random: () => 0.5, ...state });
  agents.push(test);
  return test;
}

/** Advances the clock until the condition holds. */
function sooner<Value>(condition: () => Value): ReturnType<typeof waitFor<Value>> {
  return waitFor(async () => {
    await clock.advance(500);
    return condition();
  });
}

/** Stores events as if an earlier agent had left them in the folder. */
async function remember(folder: string, count: number, details: Record<string, unknown> = {}): Promise<void> {
  const state = await openEventState({ folder, clock, log: createLogger({ level: 'silent', name: 'test' }) });
  for (let index = 0; index < count; index += 1) {
    state.report({ event_type: 'pod_ready', namespace: 'a', resource: `pod/${index}`, details });
  }
  await state.settled();
  await state.close();
}

describe('a platform that sends impossible values', () => {
  it('cannot make the agent drop unsent events', async () => {
    await using state = await temporaryFolder();
    await remember(state.path, 100);
    const test = await start({ acknowledgeEvents: false }, state.path);
    const { instance_id: instanceId } = await platform.waitForMessage('hello');
    await platform.waitForMessage('event', ({ seq }) => (seq ?? 0) > 50); // the rest waits for the rate
    platform.send('event_ack', { instance_id: instanceId, seq: 1_000_000 });
    await waitFor(() => test.logLines.some((line) => line.includes('confirms events that were never sent')));
    await sooner(() => new Set(platform.messages('event').map(({ seq }) => seq)).size === 101);
  });

  it('receives oversized events without their details, and all later events', async () => {
    await using state = await temporaryFolder();
    await remember(state.path, 3, { text: 'x'.repeat(100_000) });
    await start({ mode: 'contract', announces: true }, state.path);
    await platform.waitForMessage('hello');
    platform.send('welcome', { ...WELCOME, limits: { ...WELCOME.limits, frame_size_bytes: 1 } });
    await platform.waitForMessage('event', ({ event_type: type }) => type === 'agent_started');
    expect(platform.messages('event').map(({ details }) => details)).toEqual([
      ...Array.from({ length: 3 }, () => ({ truncated: true })),
      {},
    ]);
  });

  it('cannot push event numbers beyond the safe range', async () => {
    await start({ mode: 'contract', announces: true });
    await platform.waitForMessage('hello');
    platform.send('welcome', { ...WELCOME, resumed: true, last_received_seq: Number.MAX_SAFE_INTEGER });
    expect(await platform.waitForMessage('event')).toMatchObject({ seq: 1, event_type: 'agent_started' });
  });
});

describe('a silent platform', () => {
  const EXEC = { pod: 'web', namespace: 'default', command: ['ls'] };

  it('receives unacknowledged messages again if it was only slow', async () => {
    const options: TestPlatformOptions = { mode: 'contract' };
    await start(options);
    await platform.waitForMessage('hello');
    await clock.advance(5000);
    await platform.waitForMessage('event', ({ event_type: type }) => type === 'agent_started');
    platform.send('exec', EXEC, 'cmd-1');
    const result = await platform.result('cmd-1');
    options.mode = 'svc';
    platform.connection.socket.terminate();
    await sooner(() => platform.messages('event').length === 2);
    expect(platform.messages('event').map(({ seq }) => seq)).toEqual([1, 1]);
    expect(platform.messages('hello').at(-1)?.in_flight).toEqual(['cmd-1']);
    await waitFor(() => platform.messages('command_result').length === 2);
    expect(platform.messages('command_result')[1]).toEqual(result);
  });

  it('is given time if it sent a welcome before, until it is known to be a different one', async () => {
    const options: TestPlatformOptions = {};
    const test = await start(options);
    await platform.waitForMessage('heartbeat');
    options.mode = 'contract';
    platform.connection.socket.terminate();
    await sooner(() => test.logLines.some((line) => line.includes('"mode":"contract"')));
    expect(platform.connections.length).toBeGreaterThanOrEqual(4); // one with a welcome, two that waited for one
  });
});
