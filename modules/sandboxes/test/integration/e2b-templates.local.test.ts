import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { skippedTitle, temporaryFolder, type FakeCaller, type TemporaryFolder } from '@svc/testing';
import { Sandbox, Template } from 'e2b';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const reason = localDriverReason();
const title = 'templates of E2B clients';
const HASH = 'a'.repeat(64);

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  let context: TemporaryFolder;
  let key: FakeCaller;
  let options: { apiUrl: string; sandboxUrl: string; apiKey: string; validateApiKey: boolean };
  const newKey = (scope: 'read' | 'write' = 'write') =>
    platform.access.serviceAccount(platform.owner.workspaceUuid, [scope]);
  const control = (method: string, path: string, caller: FakeCaller | null, body?: unknown) =>
    platform.call(method, `/e2b${path}`, {
      caller: null,
      headers: caller === null ? {} : { 'x-api-key': caller.token },
      ...(body === undefined ? {} : { body }),
    });

  beforeAll(async () => {
    platform = await startPlatform({ prepare: 'debian', config: { max_per_caller: 100 } });
    key = newKey();
    options = {
      apiUrl: `${platform.url}/e2b`,
      sandboxUrl: `${platform.url}/e2b/envd`,
      apiKey: key.token,
      validateApiKey: false,
    };
    context = await temporaryFolder('svc-e2b-context-');
    await mkdir(join(context.path, 'app'));
    await writeFile(join(context.path, 'app/data.txt'), 'data\n');
    await symlink('data.txt', join(context.path, 'app/link.txt'));
  });
  afterAll(async () => {
    await platform.dispose();
    await context.remove();
  });

  it('are built by the SDK from steps and files, tagged, and started from', async () => {
    const template = Template({ fileContextPath: context.path })
      .fromImage('debian')
      .copy('app/*', 'app', { mode: 0o640 })
      .setEnvs({ COLOR: 'blue green' })
      .runCmd('id -un > app/who; pwd >> app/who; echo "$COLOR" >> app/who')
      .runCmd('touch /root-was-here', { user: 'root' })
      .setWorkdir('/home/user/app')
      .setStartCmd('echo started > /tmp/started; sleep 300', 'test -e /tmp/started');
    const lines: string[] = [];
    const onBuildLogs = ({ message }: { message: string }): void => void lines.push(message);
    const built = await Template.build(template, 'colors:v1', { ...options, cpuCount: 1, memoryMB: 512, onBuildLogs });
    expect(lines.join('\n')).toContain('READY test -e /tmp/started');
    await Template.assignTags('colors:v1', ['stable'], options);
    expect((await Template.getTags(built.templateId, options)).map(({ tag }) => tag)).toEqual(['stable', 'v1']);
    expect(await Template.exists('colors', options)).toBe(true);
    const sandbox = await Sandbox.create('colors:stable', options);
    const { stdout } = await sandbox.commands.run('cat who link.txt; stat -c "%U %a" data.txt; echo $COLOR; pwd; ls /');
    expect(stdout).toMatch(
      /^user\n\/home\/user\nblue green\ndata\nuser 640\nblue green\n\/home\/user\/app\n[^]*root-was-here/,
    );
    const { memoryMB } = await sandbox.getInfo();
    expect(memoryMB).toBe(512);
    await sandbox.commands.run('until test -e /tmp/started; do sleep 0.1; done');
    await sandbox.kill();
    await Template.removeTags('colors', 'stable', options);
    await expect(Sandbox.create('colors:stable', options)).rejects.toThrow('not found');
  });

  it('say in E2B’s words which user a command lacks', async () => {
    const template = Template().fromImage('debian').runCmd('whoami', { user: 'ghost' });
    await expect(Template.build(template, 'ghosts', options)).rejects.toThrow(
      "failed to run command 'whoami': command failed: unauthenticated: invalid username: 'ghost'",
    );
    const missing = Template().fromImage('example.com/none:1').runCmd('true');
    await expect(Template.build(missing, 'ghosts', options)).rejects.toThrow('neither an image of the catalog');
  });

  it('belong to the workspace of the key, and to keys that may write', async () => {
    const { body: asked } = await control('POST', '/v3/templates', key, { name: 'own', cpuCount: 1, memoryMB: 512 });
    const { templateID: id, buildID: build } = asked;
    const stranger = platform.access.user('stranger');
    const reader = newKey('read');
    const routes: [string, string, object | undefined][] = [
      ['GET', `/templates/${id}/files/${HASH}`, undefined],
      ['POST', `/v2/templates/${id}/builds/${build}`, { fromImage: 'debian' }],
      ['PATCH', `/v2/templates/${id}`, { public: false }],
      ['DELETE', `/templates/${id}`, undefined],
      ['GET', `/templates/${id}`, undefined],
      ['GET', `/templates/${id}/tags`, undefined],
      ['GET', `/templates/${id}/builds/${build}/status`, undefined],
      ['GET', `/templates/${id}/builds/${build}/logs`, undefined],
    ];
    for (const [method, path, body] of routes) {
      expect((await control(method, path, null, body)).status, path).toBe(401);
      expect((await control(method, path, stranger, body)).status, path).toBe(404);
      const isRead = method === 'GET' && !path.includes('/files/');
      expect((await control(method, path, reader, body)).status, path).toBe(isRead ? 200 : 403);
    }
    expect((await control('POST', '/v3/templates', reader, { name: 'other' })).status).toBe(403);
    expect((await control('POST', '/templates/tags', reader, { target: 'own', tags: ['a'] })).status).toBe(403);
    expect((await control('GET', '/templates/aliases/own', stranger)).status).toBe(404);
    expect((await control('GET', '/v2/templates', stranger)).body).toEqual([]);
    const published = await control('PATCH', `/v2/templates/${id}`, key, { public: true });
    expect(published).toMatchObject({ status: 501 });
    const registry = { fromImage: 'debian', fromImageRegistry: { type: 'registry', username: 'a', password: 'b' } };
    expect((await control('POST', `/v2/templates/${id}/builds/${build}`, key, registry)).status).toBe(501);
  });

  it('take files at a URL that ends with its key', async () => {
    const other = newKey();
    const { body: asked } = await control('POST', '/v3/templates', other, { name: 'files' });
    const link = async (): Promise<{ present: boolean; url: string }> => {
      const { body } = await control('GET', `/templates/${asked['templateID']}/files/${HASH}`, other);
      return { present: body['present'], url: body['url'] };
    };
    const put = async (url: string): Promise<number> => (await fetch(url, { method: 'PUT', body: 'archive' })).status;
    const { present, url } = await link();
    expect(present).toBe(false);
    expect(await put(`${url}x`)).toBe(401);
    expect(await put(url.replace('/template-files/', '/template-files/e30'))).toBe(401);
    expect(await put(url)).toBe(200);
    expect((await link()).present).toBe(true);
    platform.access.revoke(other);
    expect(await put(url)).toBe(401);
  });
});
