import { PROTOCOL_TIMES } from '@svc/protocol';
import { fakeClock, waitFor } from '@svc/testing';
import { expect, it } from 'vitest';
import { startTestAgent, TestPlatform } from '../../support/index.ts';

it('keeps a link on which messages arrive but pings do not', async () => {
  const clock = fakeClock();
  const platform = await TestPlatform.start({ autoPong: false });
  const test = await startTestAgent({ platformUrl: platform.url, clock, random: () => 0.5 });
  await platform.waitForMessage('heartbeat');
  const { pingIntervalMs, pongTimeoutMs } = PROTOCOL_TIMES;
  await clock.advance(pingIntervalMs);
  for (let round = 1; round <= 4; round += 1) {
    await clock.advance(pongTimeoutMs / 2); // after the ping, the message that checks the same
    const answered = `svc_agent_messages_total{direction="received",type="pong"} ${round}`;
    await waitFor(async () => (await (await test.get('/metrics')).text()).includes(answered));
    await clock.advance(pongTimeoutMs / 2);
  }
  expect(platform.connections).toHaveLength(1);
  expect(platform.messages('ping')).toHaveLength(4);
  platform.connection.socket.pause();
  await clock.advance(pongTimeoutMs); // now neither
  await waitFor(async () => {
    await clock.advance(500);
    return platform.connections.length === 2;
  });
  await test.stop();
  await platform.close();
});

it('answers a ping message from a platform', async () => {
  const platform = await TestPlatform.start();
  const test = await startTestAgent({ platformUrl: platform.url, clock: fakeClock() });
  await platform.waitForMessage('heartbeat');
  platform.send('ping', {});
  await platform.waitForMessage('pong');
  await test.stop();
  await platform.close();
});
