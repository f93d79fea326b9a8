import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

describe('the exec route', () => {
  const driver = new FakeDriver();
  let platform: TestPlatform;
  let id: string;
  const exec = (body: unknown) => platform.call('POST', `/api/containers/${id}/exec`, { body });

  beforeAll(async () => {
    platform = await startPlatform({ driver, config: { max_commands: 1 } });
    id = (await platform.call('POST', '/api/containers', { body: { image: 'busybox' } })).body['id'];
  });
  afterAll(async () => {
    await platform.dispose();
    await driver.dispose();
  });

  it("returns the command's exit code", async () => {
    expect(await exec({ command: 'exit 7' })).toMatchObject({ status: 200, body: { exit_code: 7, stdout: '' } });
  });

  it('names the field of an incomplete, excessive or malformed body', async () => {
    const bodies: [unknown, string | undefined][] = [
      [{}, 'command'],
      [{ command: 'a', cmd: ['b'] }, 'cmd'],
      [{ command: 'a', stdin: 'AB=', stdin_encoding: 'base64' }, 'stdin'],
      [{ command: 'a', workdir: '/a', cwd: '/b' }, 'cwd'],
      [{ command: '' }, undefined],
      [{ command: [] }, undefined],
      [{ command: 'a', workdir: 'relative' }, undefined],
      [{ command: 'a', timeout_seconds: 0 }, undefined],
      [{ command: 'a', timeout_seconds: 86_401 }, undefined],
      [{ command: 'a', env: { 'A=B': 'c' } }, undefined],
      [{ command: 'a', env: ['NO_VALUE'] }, undefined],
      [{ command: 'a', shell: 'zsh' }, undefined],
    ];
    for (const [body, field] of bodies) {
      const answer = await exec(body);
      expect(answer, JSON.stringify(body)).toMatchObject({ status: 400 });
      if (field !== undefined) expect(answer.body).toMatchObject({ code: 'INVALID_FIELD', details: { field } });
    }
  });

  it.each([
    [{ command: 'a\u0000' }, 'command'],
    [{ command: ['a', 'b\u0000'] }, 'command.1'],
    [{ cmd: ['a\u0000'] }, 'cmd.0'],
    [{ command: 'a', env: { A: 'b\u0000' } }, 'env.A'],
    [{ command: 'a', env: ['A=b\u0000'] }, 'env.0'],
    [{ command: 'a', workdir: '/a\u0000' }, 'workdir'],
  ])('refuses a NUL in %j', async (body, field) => {
    expect(await exec(body)).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST', details: { field } } });
  });

  it('limits the number of concurrent commands per sandbox', async () => {
    const gone = new AbortController();
    const response = await fetch(`${platform.url}/api/containers/${id}/exec`, {
      method: 'POST',
      headers: { ...platform.owner.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ command: ['cat'], stream: true }),
      signal: gone.signal,
    });
    expect(response.status).toBe(200);
    expect(await exec({ command: 'exit 0' })).toMatchObject({ status: 429, body: { code: 'TOO_MANY_COMMANDS' } });
    gone.abort();
    await response.text().catch(() => undefined);
    await expect.poll(async () => (await exec({ command: 'exit 0' })).status).toBe(200);
  });
});
