import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { temporaryFolder } from '@svc/testing';
import type { TarEntry } from '@svc/archive';
import { describe, expect, it } from 'vitest';
import { programTree, reachablePackages } from './program-tree.ts';

const root = join(import.meta.dirname, '../../..');
const TARGET = 'usr/lib/svc';
const RUN_TIME_IMPORT = /^(?:import|export)\s+(?!type\b)[^'";]*?from\s+'([^']+)'|\bimport\('([^']+)'\)/gm;
/** Imported on demand by commands that refuse to run without a checkout. */
const BUILDS: ReadonlySet<string> = new Set(['@svc/agent/build', '@svc/console/build', '@svc/platform/build']);

async function ownTree(): Promise<Map<string, TarEntry>> {
  await using folder = await temporaryFolder();
  await mkdir(join(folder.path, 'assets'));
  await writeFile(join(folder.path, 'index.html'), '<!doctype html>');
  const helperFile = join(folder.path, 'index.html'); // any file: the tree copies it
  const options = {
    root,
    architecture: 'x64',
    consoleFolder: folder.path,
    helperFile,
    mountFile: helperFile,
    target: TARGET,
  } as const;
  const { entries } = await programTree(options);
  return new Map(entries.map((entry) => [posix.relative(TARGET, entry.path), entry]));
}

function importsOf(text: string): string[] {
  return [...text.matchAll(RUN_TIME_IMPORT)].map(([, from, demanded]) => from ?? demanded ?? '');
}

/** The file or package folder that an import of a file names; null for a built-in module. */
function targetOf(path: string, specifier: string): string | null {
  if (specifier.startsWith('node:')) return null;
  if (specifier.startsWith('.')) return posix.join(posix.dirname(path), specifier);
  const [first = '', second = ''] = specifier.split('/');
  return posix.join('node_modules', specifier.startsWith('@') ? `${first}/${second}` : first);
}

describe('the tree of an installed svc', () => {
  it('holds everything that its own sources import at run time', async () => {
    const tree = await ownTree();
    const folders = new Set([...tree.keys()].filter((path) => path.endsWith('/package.json')).map(posix.dirname));
    const missing: string[] = [];
    for (const path of tree.keys()) {
      if (!path.endsWith('.ts') || path.startsWith('node_modules/')) continue;
      for (const specifier of importsOf(await readFile(join(root, path), 'utf8'))) {
        const target = targetOf(path, specifier);
        if (target === null || BUILDS.has(specifier) || tree.has(target) || folders.has(target)) continue;
        missing.push(`${path} imports ${specifier}`);
      }
    }
    expect(missing).toEqual([]);
  });

  it('holds what own packages export to one another', async () => {
    const tree = await ownTree();
    const missing: string[] = [];
    for (const path of tree.keys()) {
      if (!path.endsWith('.ts') || path.startsWith('node_modules/')) continue;
      for (const specifier of importsOf(await readFile(join(root, path), 'utf8'))) {
        if (!specifier.startsWith('@svc/') || BUILDS.has(specifier)) continue;
        const link = tree.get(targetOf(path, specifier) ?? '');
        if (link?.type !== 'link') continue; // the first test names it
        const folder = posix.join('node_modules/@svc', link.target);
        const { exports } = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8')) as {
          exports: Record<string, string>;
        }; // our own file
        const subpath = `.${specifier
          .split('/')
          .slice(2)
          .map((part) => `/${part}`)
          .join('')}`;
        if (!tree.has(posix.join(folder, exports[subpath] ?? ''))) missing.push(`${path} imports ${specifier}`);
      }
    }
    expect(missing).toEqual([]);
  });

  it('holds each source without its types, and what loads it', async () => {
    const paths = new Set((await ownTree()).keys());
    const sources = [...paths].filter((path) => path.endsWith('.ts') && !path.startsWith('node_modules/'));
    expect(sources.length).toBeGreaterThan(1000);
    expect(sources.filter((path) => !paths.has(`.cache/stripped/${path}.js`))).toEqual([]);
    expect(paths).toContain('apps/cli/src/start/stripped-sources.mjs');
  });

  it('leaves out tests, types, source maps and the tools of builds', async () => {
    const paths = [...(await ownTree()).keys()];
    expect(paths.filter((path) => /\.test\.ts$|\.d\.[cm]?ts$|\.map$/.test(path))).toEqual([]);
    expect(paths.filter((path) => /node_modules\/(vite|vitest|rolldown|typescript|react)\//.test(path))).toEqual([]);
    expect(paths.filter((path) => path.includes('linux-arm64/'))).toEqual([]);
    expect(paths).toContain('console/index.html');
    expect(paths).toContain('helper/linux-x64/sandbox-agent');
    expect(paths).toContain('helper/linux-x64/bucket-mount');
  });
});

describe('reachablePackages', () => {
  const lock = {
    'apps/cli': { dependencies: { '@svc/a': '*', outer: '1' } },
    'node_modules/@svc/a': { link: true, resolved: 'packages/a' },
    'packages/a': { dependencies: { inner: '1', rolldown: '1' }, devDependencies: { vitest: '1' } },
    'node_modules/inner': { version: '1.0.0' },
    'node_modules/outer': { version: '1.0.0', dependencies: { inner: '2' }, peerDependencies: { absent: '1' } },
    'node_modules/outer/node_modules/inner': { version: '2.0.0' },
    'node_modules/rolldown': { version: '1.0.0' },
    'node_modules/vitest': { version: '1.0.0' },
  };

  it('follows links and nested versions, but neither development nor build dependencies', () => {
    expect(reachablePackages(lock)).toEqual([
      'apps/cli',
      'node_modules/@svc/a',
      'node_modules/inner',
      'node_modules/outer',
      'node_modules/outer/node_modules/inner',
      'packages/a',
    ]);
  });

  it('refuses a lock file without a dependency, by its name', () => {
    expect(() => reachablePackages({ 'apps/cli': { dependencies: { gone: '1' } } })).toThrow(/apps\/cli needs gone/);
  });
});
