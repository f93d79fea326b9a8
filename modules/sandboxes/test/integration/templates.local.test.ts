import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { skippedTitle, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type Answer, type TestPlatform } from '../support/platform.ts';
import { tarArchive } from '../support/tar-archive.ts';

const reason = localDriverReason();
const title = 'templates built in real sandboxes';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;

  beforeAll(async () => {
    platform = await startPlatform({ prepare: 'busybox', config: { max_per_caller: 100 } });
  });
  afterAll(() => platform.dispose());

  const ended = async (name: string, build: string): Promise<Answer['body']> => {
    for (let after = 0; ;) {
      const path = `/api/templates/${name}/builds/${build}`;
      const { body } = await platform.call('GET', `${path}/logs?after=${after}&wait_ms=20000`);
      after = body['next'];
      if (body['status'] === 'building' || body['lines'].length > 0) continue;
      return (await platform.call('GET', path)).body;
    }
  };
  const log = async (name: string, build: string): Promise<string> => {
    const { body } = await platform.call('GET', `/api/templates/${name}/builds/${build}/logs`);
    return body['lines'].map(({ message }: { message: string }) => message).join('\n');
  };
  const build = async (name: string, body: Record<string, unknown>): Promise<Answer['body']> => {
    const started = await platform.call('POST', `/api/templates/${name}/builds`, { body });
    expect(started).toMatchObject({ status: 202, body: { status: 'building' } });
    const made = await ended(started.body['name'], started.body['id']);
    return { ...made, log: await log(started.body['name'], started.body['id']) };
  };
  const create = async (body: Record<string, unknown>): Promise<Answer['body']> => {
    const created = await platform.call('POST', '/api/containers?wait_ms=30000', { body });
    expect(created.body).toMatchObject({ status: 'running', error: null });
    return created.body;
  };
  const shell = async (sandbox: string, command: string): Promise<string> => {
    const { body } = await platform.call('POST', `/api/containers/${sandbox}/exec`, { body: { command } });
    return body['stdout'] + body['stderr'];
  };
  const upload = async (archive: Buffer): Promise<string> => {
    const hash = createHash('sha256').update(archive).digest('hex');
    const answer = await fetch(`${platform.url}/api/templates/files/${hash}`, {
      method: 'PUT',
      headers: { ...platform.owner.headers, 'content-type': 'application/x-tar' },
      body: new Uint8Array(archive),
    });
    expect(answer.status).toBe(200);
    return hash;
  };
  const builtFolder = (): string => join(platform.folder, 'sandboxes', 'built');
  const sandboxes = async (): Promise<unknown[]> => (await platform.call('GET', '/api/containers')).body['containers'];

  it('builds a Dockerfile of two stages; a sandbox has its files, variables, folder and start command', async () => {
    const archive = tarArchive([
      { name: 'src/', type: 'folder' },
      { name: 'src/one.txt', content: 'one\n' },
      { name: 'src/.hidden', content: 'hidden\n' },
    ]);
    const dockerfile = `
FROM busybox AS build
WORKDIR /work
COPY src/* ./
ARG GREETING=hello
RUN echo "$GREETING $(cat one.txt)" > out.txt && mv /bin/wget /bin/moved && rm -rf /var/spool
FROM busybox
ENV NAME=value PATH=/opt/bin:$PATH
COPY --from=build --chmod=640 /work/out.txt /opt/data/
COPY --from=build /work/ /copied
RUN echo "app:x:1234:1234::/:/bin/sh" >> /etc/passwd && mkdir -p /tree/a && touch /tree/a/file && mv /tree/a /tree/b
WORKDIR /opt/data
USER app
EXPOSE 8080
CMD touch /tmp/started; sleep 600
HEALTHCHECK CMD test -f /tmp/started
`;
    const plan = await platform.call('POST', '/api/templates/plan', { body: { dockerfile } });
    expect(plan.body).toMatchObject({ steps: 11, copies: [{ sources: ['src/*'], line: 4 }] });
    const files = [await upload(archive)];
    const made = await build('app', {
      dockerfile,
      files,
      build_args: { GREETING: 'good day' },
      tags: ['v1', 'latest'],
    });
    expect(made['log']).toContain('READY test -f /tmp/started');
    expect(made).toMatchObject({ status: 'ready', error: null, user: 'app', workdir: '/opt/data', ports: [8080] });
    expect(made).toMatchObject({ cached_steps: 0, available: true });

    const sandbox = await create({ template: 'app' });
    expect(sandbox).toMatchObject({ image: 'app:latest', template_build_id: made['id'] });
    const id = sandbox['id'];
    expect(
      await shell(id, 'cat out.txt; ls -A /copied; stat -c %a:%u /opt/data/out.txt; echo $NAME; echo $PATH'),
    ).toMatch(/^good day one\n\.hidden\none\.txt\nout\.txt\n640:0\nvalue\n\/opt\/bin:/);
    expect(await shell(id, 'ls /tree /tree/b; ls -d /bin/wget; ls -A / | grep svc; id app')).toMatch(
      /^\/tree:\nb\n\n\/tree\/b:\nfile\n\/bin\/wget\nuid=1234/,
    );
    await waitFor(async () => (await shell(id, 'stat -c %U /tmp/started')) === 'app\n');
    await platform.call('POST', `/api/containers/${id}/stop`);
    await platform.call('POST', `/api/containers/${id}/start?wait_ms=30000`);
    await waitFor(async () => (await shell(id, 'ps | grep "sleep 600" | grep -vc grep')) === '1\n');
    await platform.call('DELETE', `/api/containers/${id}`);
    expect(await sandboxes()).toEqual([]); // builds leave none

    const again = await build('app', { dockerfile, files, build_args: { GREETING: 'good day' } });
    expect(again).toMatchObject({ status: 'ready', cached_steps: again['steps'] });
    const other = await build('app', { dockerfile, files, build_args: { GREETING: 'hi' }, tags: ['other'] });
    expect(other).toMatchObject({ status: 'ready' });
    expect(other['cached_steps']).toBeGreaterThan(0);
    expect(other['cached_steps']).toBeLessThan(other['steps']);
    const second = await create({ template: 'app:other' });
    expect(await shell(second['id'], 'cat /opt/data/out.txt')).toBe('hi one\n');
    expect((await platform.call('GET', '/api/templates/app')).body['tags']).toMatchObject([
      { tag: 'latest', build_id: again['id'] },
      { tag: 'other', build_id: other['id'] },
      { tag: 'v1', build_id: made['id'] },
    ]);
  });

  it('builds from steps and from another template, removes files of the base, and keeps each step apart', async () => {
    const first = await build('base', {
      from: 'busybox',
      steps: [{ run: 'rm /bin/vi; mkdir /d; echo 1 > /d/x; sleep 300 &' }, { run: 'test "$(pidof sleep)" = ""' }],
    });
    expect(first).toMatchObject({ status: 'ready', steps: 2 });
    const second = await build('derived', { from: 'base', steps: [{ run: ['rm', '-r', '/d'] }, { run: 'mkdir /d' }] });
    expect(second).toMatchObject({ status: 'ready' });
    const { id } = await create({ template: 'derived' });
    expect(await shell(id, 'ls -A /d; ls /bin/vi')).toBe('ls: /bin/vi: No such file or directory\n');
  });

  it('says which step failed, at which line, with its output, and leaves nothing', async () => {
    const dockerfile = 'FROM busybox\n\nRUN echo going >&2; \\\n  exit 3\n';
    const failed = await build('broken', { dockerfile });
    expect(failed).toMatchObject({ status: 'error', available: false, error: { step: 0, line: 3 } });
    expect(failed['error'].message).toContain('exit code 3');
    expect(failed['log']).toContain('going');
    expect(await build('broken', { from: 'nothing-there' })).toMatchObject({ status: 'error' });
    expect(await build('broken', { from: 'busybox', steps: [{ run: 'id', user: 'ghost' }] })).toMatchObject({
      error: { message: 'unknown user: ghost' },
    });
    const noStart = await build('broken', {
      from: 'busybox',
      start_command: 'exit 7',
      ready_command: 'sleep 1; false',
    });
    expect(noStart['error'].message).toBe('the start command ended with exit code 7');
    expect(await platform.call('POST', '/api/containers', { body: { template: 'broken' } })).toMatchObject({
      status: 404,
      body: { code: 'TEMPLATE_NOT_FOUND' },
    });
    expect((await sandboxes()).filter((each) => JSON.stringify(each).includes('svc-template-build'))).toEqual([]);
  });

  it('cancels a build, and a build that a restart interrupted says so; neither leaves a sandbox', async () => {
    const begin = async (): Promise<string> => {
      const body = { from: 'busybox', steps: [{ run: 'echo begun; sleep 300' }] };
      const { body: started } = await platform.call('POST', '/api/templates/slow/builds', { body });
      await waitFor(async () => /^begun$/m.test(await log('slow', started['id'])));
      return started['id'];
    };
    const cancelled = await begin();
    const answer = await platform.call('POST', `/api/templates/slow/builds/${cancelled}/cancel`);
    expect(answer.body).toMatchObject({ status: 'error', error: { message: 'The build was cancelled' } });
    const interrupted = await begin();
    await platform.close();
    const half = `tpl_${'a'.repeat(26)}.json.new`;
    writeFileSync(join(builtFolder(), half), '');
    await platform.reopen();
    await waitFor(() => !readdirSync(builtFolder()).includes(half));
    const { body } = await platform.call('GET', `/api/templates/slow/builds/${interrupted}`);
    expect(body).toMatchObject({ status: 'error' });
    await waitFor(async () => !JSON.stringify(await sandboxes()).includes('svc-template-build'));
    const survivor = await create({ template: 'base' });
    expect(await shell(survivor['id'], 'cat /d/x')).toBe('1\n');
  });

  it('stores equal layers once, and removes layers and images with their template', async () => {
    const built = (): string[] => readdirSync(builtFolder());
    const before = built().length;
    const steps = [{ run: 'dd if=/dev/zero of=/large bs=1024 count=100 2>/dev/null' }];
    await build('gone', { from: 'busybox', steps });
    expect(built().length).toBe(before + 2); // the step and the result
    const [file] = built().slice(-1);
    expect(readFileSync(join(builtFolder(), file ?? ''), 'utf8')).toContain('digest');
    expect((await platform.call('DELETE', '/api/templates/gone')).status).toBe(200);
    expect((await platform.call('GET', '/api/templates/gone')).status).toBe(404);
    await waitFor(() => built().length === before + 1); // the step stays as a cache for a while
    expect(await build('gone', { from: 'busybox', steps })).toMatchObject({ cached_steps: 1, steps: 1 });
  });
});
