import { fakeClock, waitFor } from '@svc/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { startTestAgent, TestPlatform, type TestAgent } from '../../support/index.ts';

describe('a refused handshake', () => {
  let platform: TestPlatform;
  let test: TestAgent;
  afterEach(async () => {
    await test.stop();
    await platform.close();
  });

  async function refusedLine(
    body: string,
    headers: Record<string, string>,
    environment: Record<string, string> = {},
  ): Promise<{ line: string; retryInMs: number }> {
    platform = await TestPlatform.start();
    platform.refusal = { status: 503, body, headers };
    test = await startTestAgent({ platformUrl: platform.url, clock: fakeClock(), environment, random: () => 0 });
    const line = await waitFor(() => test.logLines.find((each) => each.includes('no connection to the platform')));
    const { retry_in_ms: retryInMs } = JSON.parse(line) as { retry_in_ms: number };
    return { line, retryInMs };
  }

  it('may contain a date in Retry-After', async () => {
    const headers = { date: 'Sat, 21 Nov 2026 10:00:00 GMT', 'retry-after': 'Sat, 21 Nov 2026 10:02:00 GMT' };
    expect((await refusedLine('maintenance', headers)).retryInMs).toBe(120_000);
  });

  it.each(['soon', '-5', 'Sat, 21 Nov 2026 09:00:00 GMT'])('ignores Retry-After %j', async (retryAfter) => {
    const headers = { date: 'Sat, 21 Nov 2026 10:00:00 GMT', 'retry-after': retryAfter };
    expect((await refusedLine('', headers)).retryInMs).toBe(0);
  });

  it('never logs the token, even if the response contains it without its prefix', async () => {
    const { line } = await refusedLine(
      'you sent plain-token-of-another-platform',
      {},
      { SVC_TOKEN: 'plain-token-of-another-platform' },
    );
    expect(line).toContain('you sent');
    expect(test.logLines.join('')).not.toContain('plain-token');
  });
});
