import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProgram } from '../system/run-program.ts';
import { PROJECT_ROOT, startPlatform, type RunningPlatform } from '../system/running-platform.ts';
import { readExamples, type Examples } from './read-examples.ts';

describe('the SDK’s README examples', () => {
  let folder: TemporaryFolder;
  let platform: RunningPlatform;
  let examples: Examples;
  beforeAll(async () => {
    folder = await temporaryFolder('svc-sdk-');
    platform = await startPlatform({ dataFolder: join(folder.path, 'data') });
    examples = readExamples(await readFile(join(PROJECT_ROOT, 'sdks/typescript/README.md'), 'utf8'));
    // Like a project that has installed the package.
    await mkdir(join(folder.path, 'node_modules/@svc'), { recursive: true });
    await symlink(join(PROJECT_ROOT, 'sdks/typescript'), join(folder.path, 'node_modules/@svc/sdk'));
    await writeFile(join(folder.path, 'package.json'), JSON.stringify({ type: 'module' }));
    await writeFile(join(folder.path, 'examples.ts'), examples.source);
  });
  afterAll(async () => {
    await platform.stop();
    await folder.remove();
  });

  it('type-check', async () => {
    const settings = {
      extends: join(PROJECT_ROOT, 'tsconfig.json'),
      compilerOptions: { incremental: false, typeRoots: [join(PROJECT_ROOT, 'node_modules/@types')] },
      include: ['examples.ts'],
    };
    await writeFile(join(folder.path, 'tsconfig.json'), JSON.stringify(settings));
    const compiler = join(PROJECT_ROOT, 'node_modules/@typescript/native/bin/tsc');
    expect(await runProgram(process.execPath, [compiler, '-p', folder.path], { environment: {} })).toBe('');
  });

  it('print the documented output', async () => {
    const environment = { SVC_URL: platform.ready.url, SVC_TOKEN: platform.ready.token, NO_COLOR: '1' };
    const output = await runProgram(process.execPath, ['examples.ts'], { environment, folder: folder.path });
    expect(examples.printed.length).toBeGreaterThan(10);
    expect(output.trimEnd().split('\n')).toEqual(examples.printed);
  });
});
