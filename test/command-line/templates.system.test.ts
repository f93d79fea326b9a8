import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Template, TemplateBuild } from '@svc/sdk';
import { describeRequiring, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CommandLine } from './command-line.ts';
import { startCommandStore, type CommandStore } from './command-store.ts';

describeRequiring(['linux', 'root'], 'svc template', () => {
  let store: CommandStore;
  let svc: CommandLine;
  let folder: TemporaryFolder;
  beforeAll(async () => {
    folder = await temporaryFolder();
    store = await startCommandStore();
    svc = store.svc;
    await mkdir(join(folder.path, 'app'));
    await writeFile(join(folder.path, 'app/one.txt'), 'one\n');
    await writeFile(join(folder.path, 'app/skip.log'), 'log\n');
    await writeFile(join(folder.path, '.dockerignore'), '*.log\n**/*.log\n');
  });
  afterAll(async () => {
    await svc.run(['sandbox', 'rm', '--all']);
    await store[Symbol.asyncDispose]();
    await folder.remove();
  });

  it('builds from a Dockerfile and its files, shows logs and tags, creates sandboxes, and deletes', async () => {
    await writeFile(
      join(folder.path, 'Dockerfile'),
      'FROM busybox\nARG WHO=nobody\nCOPY app /app\nRUN echo hello $WHO\n',
    );
    const build = ['template', 'build', 'tools:v1', folder.path];
    const built = await svc.answer([...build, '--build-arg', 'WHO=you']);
    expect(built).toMatch(/Uploading app \([^]*RUN echo hello \$WHO\nhello you\n[^]*Template tools:v1 is ready\n$/);
    const again = await svc.answer([...build, '--build-arg', 'WHO=you']);
    expect(again).not.toContain('Uploading');
    expect(again).toContain('CACHED COPY app /app');
    await svc.answer(['template', 'tag', 'tools', 'v1', 'latest']);
    expect(await svc.answer(['template', 'ls'])).toMatch(
      /^NAME +TAGS +NEWEST BUILD +BUILT +ARCHIVED\ntools +latest, v1 +ready /,
    );
    expect(await svc.answer(['template', 'logs', 'tools'])).toContain('from the cache');
    await svc.answer(['sandbox', 'create', '--template', 'tools', '--name', 'box']);
    expect(await svc.answer(['sandbox', 'exec', 'box', 'ls /app'])).toBe('one.txt\n');
    await svc.answer(['template', 'rm', 'tools:v1']);
    expect((await svc.json<Template[]>(['template', 'ls']))[0]?.tags.map(({ tag }) => tag)).toEqual(['latest']);
    await svc.answer(['template', 'rm', 'tools']);
    expect(await svc.json(['template', 'ls'])).toEqual([]);
  });

  it('builds from an image, and says what failed', async () => {
    const args = ['template', 'build', 'plain', '--from', 'busybox', '--run', 'echo a > /a', '--no-cache'];
    expect(await svc.json<TemplateBuild>(args)).toMatchObject({ status: 'ready', steps: 1, cached_steps: 0 });
    await writeFile(join(folder.path, 'Bad'), 'FROM busybox\nRUN exit 4\n');
    const failed = await svc.run(['template', 'build', 'plain', folder.path, '-f', join(folder.path, 'Bad')]);
    expect([failed.exitCode, failed.stderr]).toEqual([1, 'svc: the build failed: line 2: RUN exit 4: exit code 4\n']);
    await writeFile(join(folder.path, 'Bad'), 'FROM busybox\nADD a b\n');
    const refused = await svc.run(['template', 'build', 'plain', folder.path, '-f', join(folder.path, 'Bad')]);
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('line 2: ADD is not supported')]);
    expect((await svc.run(['template', 'build', 'plain', '--run', 'x'])).exitCode).toBe(2);
    expect((await svc.run(['sandbox', 'create', 'busybox', '--template', 'plain'])).exitCode).toBe(2);
  });
});
