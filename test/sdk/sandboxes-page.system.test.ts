import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@svc/sdk';
import { describeRequiring, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { removeSandboxes } from '../system/remove-sandboxes.ts';
import { runProgram } from '../system/run-program.ts';
import { PROJECT_ROOT, startPlatform, type RunningPlatform } from '../system/running-platform.ts';
import { readExamples } from './read-examples.ts';
import { outputPattern, readTranscript } from './read-transcript.ts';

describeRequiring(['linux', 'root', 'command:bash', 'command:curl'], 'the sandbox documentation', () => {
  let folder: TemporaryFolder;
  let platform: RunningPlatform;
  beforeAll(async () => {
    folder = await temporaryFolder('svc-pages-');
    platform = await startPlatform({ dataFolder: join(folder.path, 'data') });
    // Like a project that has installed the package.
    await mkdir(join(folder.path, 'node_modules/@svc'), { recursive: true });
    await symlink(join(PROJECT_ROOT, 'sdks/typescript'), join(folder.path, 'node_modules/@svc/sdk'));
    await writeFile(join(folder.path, 'package.json'), JSON.stringify({ type: 'module' }));
  });
  afterAll(async () => {
    const { url: baseUrl, token } = platform.ready;
    await removeSandboxes(createClient({ baseUrl, credential: { kind: 'token', token } }));
    await platform.stop();
    await folder.remove();
  });
  const page = (path: string): Promise<string> => readFile(join(PROJECT_ROOT, path), 'utf8');

  it('has examples that type-check and print the documented output', async () => {
    const { source, printed } = readExamples(await page('docs/sandboxes.md'));
    await writeFile(join(folder.path, 'examples.ts'), source);
    const settings = {
      extends: join(PROJECT_ROOT, 'tsconfig.json'),
      compilerOptions: { incremental: false, typeRoots: [join(PROJECT_ROOT, 'node_modules/@types')] },
      include: ['examples.ts'],
    };
    await writeFile(join(folder.path, 'tsconfig.json'), JSON.stringify(settings));
    const compiler = join(PROJECT_ROOT, 'node_modules/@typescript/native/bin/tsc');
    expect(await runProgram(process.execPath, [compiler, '-p', folder.path], { environment: {} })).toBe('');
    const environment = { SANDBOX_URL: platform.ready.url, SANDBOX_TOKEN: platform.ready.token, NO_COLOR: '1' };
    const output = await runProgram(process.execPath, ['examples.ts'], { environment, folder: folder.path });
    expect(printed.length).toBeGreaterThan(10);
    expect(output.trimEnd().split('\n')).toEqual(printed);
  });

  it.each(['docs/sandboxes.md', 'README.md'])('shows the documented output of %s', async (path) => {
    const typed = readTranscript(await page(path));
    expect(typed.length).toBeGreaterThan(5);
    const { url, token } = platform.ready;
    const environment = {
      HOME: folder.path,
      PATH: `${PROJECT_ROOT}:${process.env['PATH'] ?? ''}`,
      SVC_URL: url,
      SVC_TOKEN: token,
      API: url,
      TOKEN: token,
    };
    for (const { command, output } of typed) {
      const shown = await runProgram('bash', ['-c', `{ ${command}\n} 2>&1`], { environment, folder: folder.path });
      expect(shown, command).toMatch(outputPattern(output));
    }
  });
});
