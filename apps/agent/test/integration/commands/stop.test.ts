import { describe, expect, it } from 'vitest';
import { startTestAgent, TestPlatform } from '../../support/index.ts';

describe('an agent that is stopping', () => {
  it('refuses new commands, but leaves followed logs to the next process', async () => {
    const platform = await TestPlatform.start({ acknowledgeEvents: false }); // makes stopping wait for the ack
    const test = await startTestAgent({ platformUrl: platform.url });
    await platform.waitForMessage('heartbeat');
    const stopped = test.stop();
    await platform.waitForMessage('event', ({ event_type: type }) => type === 'agent_stopping');
    platform.send('logs', { pod: 'web', namespace: 'default', container: 'web', follow: true }, 'cmd-logs');
    platform.send('exec', { pod: 'web', namespace: 'default', container: 'web', command: ['ls'] }, 'cmd-exec');
    await platform.waitForMessage('command_ack', ({ command_id: id }) => id === 'cmd-exec');
    await stopped;
    const acks = platform.messages('command_ack').map(({ command_id: id, state }) => ({ id, state }));
    expect(acks).toEqual([{ id: 'cmd-exec', state: 'rejected' }]);
    await platform.close();
  });
});
