import { execFileSync } from 'node:child_process';
import { copyFile, mkdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';

const LOADER = 'apps/cli/src/start/stripped-sources.mjs';
const PROGRAM = 'packages/greeting/src/main.ts';
const CACHED = `.cache/stripped/${PROGRAM}.js`;

let folder: TemporaryFolder;
beforeEach(async () => {
  folder = await temporaryFolder();
  await copyInto(LOADER, join(import.meta.dirname, 'stripped-sources.mjs'));
  for (const name of ['migrations', 'modules', 'sdks']) await mkdir(join(folder.path, name));
  await writeInto('package.json', '{ "type": "module" }');
  await writeInto('packages/greeting/src/greet.ts', greeting('Hello'));
  await writeInto(
    PROGRAM,
    "import { greet } from './greet.ts';\nconst name: string = 'Ada';\nconsole.log(greet(name));\n",
  );
});
afterEach(() => folder.remove());

it('runs TypeScript and leaves the stripper of types out of the process, also at the first start', async () => {
  await writeInto(PROGRAM, 'const loaded: string[] = process.moduleLoadList;\nconsole.log(loaded.join());\n');
  expect(run()).not.toContain('amaro');
  expect(await readFile(join(folder.path, CACHED), 'utf8')).not.toContain('string[]');
  expect(run()).not.toContain('amaro');
  expect(run({ preload: false })).toContain('amaro');
});

it('runs sources as they are, not as they were', async () => {
  expect(run()).toBe('Hello, Ada\n');
  await writeInto('packages/greeting/src/greet.ts', greeting('Salve'));
  expect(run()).toBe('Salve, Ada\n');
});

it('replaces a cached file that is incomplete', async () => {
  expect(run()).toBe('Hello, Ada\n');
  await truncate(join(folder.path, CACHED), 40);
  expect(run()).toBe('Hello, Ada\n');
});

it('runs without a cache where none can be written', async () => {
  await writeInto('.cache', 'a file, not a folder');
  expect(run()).toBe('Hello, Ada\n');
});

it('runs while another source is invalid', async () => {
  await writeInto('apps/broken.ts', 'const = ;');
  expect(run()).toBe('Hello, Ada\n');
});

it('names an imported file that is missing', async () => {
  await writeInto(
    PROGRAM,
    "try {\n  await import('./absent.ts');\n} catch (error) {\n  console.log(String(error));\n}\n",
  );
  expect(run()).toContain('packages/greeting/src/absent.ts');
});

it('reports lines and columns of the source', async () => {
  await writeInto(
    PROGRAM,
    'interface Unused {\n  a: 1;\n}\nconst at: (line: string) => void = console.log;\n/* */ at(String(new Error().stack));\n',
  );
  expect(run()).toContain('main.ts:5:17');
});

function run({ preload = true } = {}): string {
  const flags = preload ? [`--require=${join(folder.path, LOADER)}`] : [];
  return execFileSync(process.execPath, [...flags, join(folder.path, PROGRAM)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {},
  });
}

function greeting(word: string): string {
  return `export function greet(name: string): string {\n  return \`${word}, \${name}\`;\n}\n`;
}

async function writeInto(path: string, content: string): Promise<void> {
  const file = join(folder.path, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}

async function copyInto(path: string, from: string): Promise<void> {
  const file = join(folder.path, path);
  await mkdir(dirname(file), { recursive: true });
  await copyFile(from, file);
}
