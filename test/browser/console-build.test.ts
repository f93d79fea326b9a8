import { appendFile, cp, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureConsoleBuilt } from '@svc/console/build';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

describe('the build of the console', () => {
  let folder: TemporaryFolder;
  let root: string;
  let cacheDir: string;
  let first: string;

  /** A copy, since the test changes a source; libraries resolve as in the project. */
  beforeAll(async () => {
    folder = await temporaryFolder();
    root = join(folder.path, 'project');
    cacheDir = join(folder.path, 'cache');
    await mkdir(root);
    for (const part of ['apps/console', 'sdks/typescript', 'package-lock.json', 'tsconfig.json']) {
      await cp(join(PROJECT, part), join(root, part), {
        recursive: true,
        filter: (source) => !source.endsWith('node_modules'),
      });
    }
    await symlink(join(PROJECT, 'node_modules'), join(root, 'node_modules'));
    first = await ensureConsoleBuilt({ root, cacheDir });
  });
  afterAll(() => folder.remove());

  it('produces one complete folder with compressed files and the list of URLs', async () => {
    expect(await readdir(join(cacheDir, 'console'))).toHaveLength(1);
    const files = await readdir(join(first, 'assets'));
    const script = files.find((name) => /^start-console-.*\.js$/.test(name)) ?? '';
    expect(files).toEqual(expect.arrayContaining([`${script}.br`, `${script}.gz`]));
    const list = JSON.parse(await readFile(join(first, 'console.json'), 'utf8')) as unknown;
    expect(list).toEqual({ routes: expect.arrayContaining(['/', '/sign-in', '/w/$workspace/audit']) as string[] });
  });

  it.each([
    ['the sign-in page', ['start-entrance'], 60_000],
    ['the overview', ['start-console', 'overview-page'], 150_000],
  ])('keeps the initial load of %s small', async (_, names, mostBytes) => {
    expect(await initialScriptBytes(first, names)).toBeLessThanOrEqual(mostBytes);
  });

  it('produces a document that complies with its content policy: no inline script, style or handler', async () => {
    const html = await readFile(join(first, 'index.html'), 'utf8');
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|javascript:|https?:\/\//);
    expect(html).toMatch(/<link rel="preload" href="\/assets\/inter-latin-wght-normal-[^"]+\.woff2"/);
  });

  it('does not rebuild while the sources are unchanged', async () => {
    const started: string[] = [];
    const again = await ensureConsoleBuilt({ root, cacheDir, onBuild: () => started.push('build') });
    expect(again).toBe(first);
    expect(started).toEqual([]);
  });

  it('ignores tests and notes, and rebuilds when a source changes', async () => {
    await writeFile(join(root, 'apps/console/src/ui/another.test.ts'), 'export {};\n');
    await appendFile(join(root, 'apps/console/README.md'), 'A note.\n');
    expect(await ensureConsoleBuilt({ root, cacheDir })).toBe(first);
    await appendFile(join(root, 'apps/console/src/ui/base.css'), '\n.added {\n  color: red;\n}\n');
    const [one, two] = await Promise.all([
      ensureConsoleBuilt({ root, cacheDir }),
      ensureConsoleBuilt({ root, cacheDir }),
    ]);
    expect(one).toBe(two);
    expect(one).not.toBe(first);
    const kept = new Set(await readdir(join(cacheDir, 'console')));
    expect(kept).toEqual(new Set([first, one].map((path) => basename(path))));
  });

  it('explains a failure and leaves nothing behind', async () => {
    const before = await readdir(join(cacheDir, 'console'));
    await writeFile(join(root, 'apps/console/src/main.ts'), 'this is no program (');
    await expect(ensureConsoleBuilt({ root, cacheDir })).rejects.toThrow(/the console does not build:[\s\S]*main\.ts/);
    expect(await readdir(join(cacheDir, 'console'))).toEqual(before);
  });
});

/** Compressed size of the document's script, the named ones and all of their static imports. */
async function initialScriptBytes(folder: string, names: readonly string[]): Promise<number> {
  const assets = join(folder, 'assets');
  const scripts = (await readdir(assets)).filter((name) => name.endsWith('.js'));
  const [, entry = ''] = /src="\/assets\/([^"]+\.js)"/.exec(await readFile(join(folder, 'index.html'), 'utf8')) ?? [];
  const waiting = [entry, ...names.flatMap((name) => scripts.filter((script) => script.startsWith(`${name}-`)))];
  expect(waiting).toHaveLength(1 + names.length);
  const seen = new Set<string>();
  for (let script = waiting.pop(); script !== undefined; script = waiting.pop()) {
    if (seen.has(script)) continue;
    seen.add(script);
    const source = await readFile(join(assets, script), 'utf8');
    for (const [, imported = ''] of source.matchAll(/(?:import|from)\s*"\.\/([^"]+\.js)"/g)) waiting.push(imported);
  }
  const sizes = await Promise.all([...seen].map((script) => compressedBytes(join(assets, script))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Small files are not compressed. */
async function compressedBytes(path: string): Promise<number> {
  try {
    return (await stat(`${path}.gz`)).size;
  } catch {
    return (await stat(path)).size;
  }
}
