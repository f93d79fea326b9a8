import { skippedTitle } from '@svc/testing';
import { Sandbox } from 'e2b';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const reason = localDriverReason();
const title = 'files composed of others by E2B clients';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  let sandbox: Sandbox;
  let headers: Record<string, string>;

  const compose = async (body: unknown, more: Record<string, string> = {}) => {
    const response = await fetch(`${platform.url}/e2b/envd/files/compose`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', ...more },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const run = async (script: string): Promise<string> => (await sandbox.commands.run(script, { user: 'root' })).stdout;

  beforeAll(async () => {
    platform = await startPlatform();
    const apiUrl = `${platform.url}/e2b`;
    const options = { apiUrl, sandboxUrl: `${apiUrl}/envd`, apiKey: platform.owner.token, validateApiKey: false };
    sandbox = await Sandbox.create('base', options);
    const { body } = await platform.call('GET', `/e2b/sandboxes/${sandbox.sandboxId}`);
    headers = { 'e2b-sandbox-id': sandbox.sandboxId, 'x-access-token': body['envdAccessToken'] };
  });
  afterAll(() => platform.dispose());

  it('are whole and in order, belong to the user, and replace the parts', async () => {
    await run('head -c 40000000 /dev/urandom > /tmp/all; cd /tmp; split -b 16000000 -d all part.; : > empty');
    const parts = ['part.00', 'empty', 'part.01', 'part.02'].map((name) => `/tmp/${name}`);
    const made = await compose({ source_paths: parts, destination: 'made/whole.bin' });
    expect(made).toMatchObject({
      status: 200,
      body: { path: '/home/user/made/whole.bin', name: 'whole.bin', type: 'file' },
    });
    expect(await run('cmp /tmp/all /home/user/made/whole.bin && stat -c %U:%a /home/user/made/whole.bin')).toBe(
      'user:644\n',
    );
    expect(await run('ls /tmp/part.* /tmp/empty 2>/dev/null | wc -l')).toBe('0\n');
  });

  it('may replace one of their parts, which then stays', async () => {
    await run('cd /tmp; printf one > first; printf two > second; chmod 600 first');
    const paths = ['/tmp/first', '/tmp/second', '/tmp/first'];
    expect(await compose({ source_paths: paths, destination: '/tmp/first', username: 'root' })).toMatchObject({
      status: 200,
    });
    expect(await run('cat /tmp/first; stat -c %a /tmp/first; test ! -e /tmp/second')).toBe('onetwoone600\n');
  });

  it('leave everything as it was if a part cannot be read, and name it', async () => {
    await run('cd /tmp; printf old > target; printf a > a; mkdir -p folder; mkfifo pipe');
    const attempt = (...paths: string[]) => compose({ source_paths: ['/tmp/a', ...paths], destination: '/tmp/target' });
    expect(await attempt('/tmp/missing')).toMatchObject({
      status: 404,
      body: { message: expect.stringMatching(/\/tmp\/missing/) },
    });
    for (const path of ['/tmp/folder', '/tmp/pipe']) {
      const refused = await attempt(path);
      expect(refused.status).toBeGreaterThanOrEqual(400);
      expect(refused.status).toBeLessThan(500);
      expect(refused.body['message']).toContain(path);
    }
    expect(await run('cat /tmp/target /tmp/a; ls -A /tmp | grep -c "^\\.svc" || true')).toBe('olda0\n');
  });

  it('need parts, a destination, a user of the sandbox and its token', async () => {
    const body = { source_paths: ['/tmp/a'], destination: '/tmp/target' };
    expect(await compose({ ...body, source_paths: [] })).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/source_paths/) },
    });
    expect(await compose({ source_paths: ['/tmp/a'] })).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/destination/) },
    });
    expect(await compose({ ...body, username: 'absent' })).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/absent/) },
    });
    expect((await compose(body, { 'x-access-token': 'wrong' })).status).toBe(401);
    expect(await run('cat /tmp/target')).toBe('old');
  });
});
