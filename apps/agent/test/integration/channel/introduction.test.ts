import { fakeClock, waitFor } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestAgent, TestPlatform, type TestAgent } from '../../support/index.ts';

describe('a platform that announced its welcome', () => {
  let clock: ReturnType<typeof fakeClock>;
  let platform: TestPlatform;
  let test: TestAgent;
  beforeEach(async () => {
    clock = fakeClock();
    platform = await TestPlatform.start({ mode: 'contract', announces: true }); // never sends the welcome
    test = await startTestAgent({ platformUrl: platform.url, clock, random: () => 0.5 });
  });
  afterEach(async () => {
    await test.stop();
    await platform.close();
  });

  it('is not taken for a contract platform while silent: nothing counts as delivered', async () => {
    await platform.waitForMessage('hello');
    expect(platform.handshakes[0]).toMatchObject({ 'x-svc-protocol': '1' });
    await clock.advance(10_000);
    platform.send('exec', { pod: 'web', namespace: 'default', container: 'web', command: ['ls'] }, 'cmd-1');
    await platform.waitForMessage('command_ack');
    expect(platform.messages('event')).toEqual([]);
    await waitFor(async () => {
      await clock.advance(500);
      return platform.messages('hello').length === 2;
    });
    expect(platform.messages('hello')[1]).toMatchObject({ in_flight: ['cmd-1'] });
    expect(test.logLines.join('')).not.toContain('"mode":"contract"');
  });
});
