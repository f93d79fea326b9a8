import { CLOSE_CODES } from '@svc/protocol';
import { fakeClock, waitFor } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestAgent, TestPlatform, type TestAgent, type TestPlatformOptions } from '../../support/index.ts';

let clock: ReturnType<typeof fakeClock>;
let options: TestPlatformOptions;
let platform: TestPlatform;
let test: TestAgent;
let stopped: boolean;

beforeEach(async () => {
  clock = fakeClock();
  options = {};
  platform = await TestPlatform.start(options);
  test = await startTestAgent({ platformUrl: platform.url, clock, random: () => 0.5 });
  stopped = false;
  await platform.waitForMessage('heartbeat');
});
afterEach(async () => {
  if (!stopped) await test.stop();
  await platform.close();
});

/** Waits until the agent has received the drain, then advances past the spread of its new attempt. */
async function drain(withinMs: number): Promise<void> {
  platform.send('drain', { reason: 'restart', reconnect_within_ms: withinMs });
  await waitFor(() => test.logLines.some((line) => line.includes('asks for a new connection')));
  await clock.advance(withinMs);
  await waitFor(() => platform.connections.length === 2);
}

describe('a drain', () => {
  it('connects anew before it closes the old connection', async () => {
    const [first] = platform.connections;
    await drain(1000);
    await waitFor(() => first?.closeCode !== null);
    expect(first?.closeCode).toBe(CLOSE_CODES.normal);
    platform.send('exec', { pod: 'a', namespace: 'b', command: ['c'] }, 'cmd-1');
    await platform.result('cmd-1');
    expect(platform.connections[1]?.received.map(({ type }) => type)).toContain('command_result');
    expect(platform.connections).toHaveLength(2);
  });

  it('ends both connections when the agent stops in between', async () => {
    const [first] = platform.connections;
    first?.socket.pause(); // never confirms the close
    await drain(1);
    // An acknowledgement over the second connection shows that it is the current one.
    await waitFor(() => {
      platform.send('exec', { pod: 'a', namespace: 'b', command: ['c'] });
      return platform.connections[1]?.received.some(({ type }) => type === 'command_ack');
    });
    void test.stop().then(() => (stopped = true));
    await waitFor(() => platform.connections[1]?.closeCode === CLOSE_CODES.goingAway);
    await waitFor(async () => {
      await clock.advance(500);
      return stopped;
    });
  });

  it('continues on the new connection when the platform closes the old one at once', async () => {
    const welcome = {
      protocol: 1,
      session_id: 'slow',
      resumed: true,
      last_received_seq: 1,
      server_time: '2026-01-01T00:00:00.000Z',
      heartbeat_interval_seconds: 30,
      limits: { messages_per_minute: 1000, messages_burst: 100, frame_size_bytes: 1_048_576 },
    };
    options.mode = 'contract'; // slow: the test sends its welcome
    platform.send('drain', { reason: 'restart', reconnect_within_ms: 0 });
    await waitFor(async () => {
      await clock.advance(0);
      return platform.messages('hello').length === 2;
    });
    const [first, second] = platform.connections;
    first?.socket.close(CLOSE_CODES.replaced, 'a newer connection of this cluster took over');
    await waitFor(() => first?.closeCode !== null);
    platform.send('welcome', welcome);
    platform.send('exec', { pod: 'web', namespace: 'default', command: ['ls'] }, 'cmd-1');
    await platform.result('cmd-1');
    expect(second?.received.map(({ type }) => type)).toContain('command_result');
    expect(platform.connections).toHaveLength(2);
  });
});
