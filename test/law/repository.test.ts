import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT_ROOT, projectFiles, readProjectFile } from './project-files.ts';
import { workspacePackages } from './workspace.ts';

interface LockedPackage {
  readonly resolved?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly license?: string;
}

const lock = JSON.parse(readProjectFile('package-lock.json')) as { packages: Record<string, LockedPackage> }; // npm's file
const locked = Object.entries(lock.packages);

/** These declare a script but work without it, since the package contains their binaries. */
const WORK_WITHOUT_SCRIPT: ReadonlySet<string> = new Set([
  'node_modules/bufferutil',
  'node_modules/fsevents',
  'node_modules/esbuild',
  // Without its optional native part, ssh2 uses Node's own cryptography. cpu-features only tells it which cipher is faster.
  'node_modules/ssh2',
  'node_modules/cpu-features',
]);

/** These state their license in a form that npm does not copy to the lock file: `licenses`, a list. */
const LICENCES_READ_BY_HAND: Readonly<Record<string, string>> = {
  'node_modules/ssh2': 'MIT',
  'node_modules/cpu-features': 'MIT',
  'node_modules/buildcheck': 'MIT',
};

/** Permissive licenses, and file-level copyleft of unmodified tools. OFL is for fonts. */
const LICENCES: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MPL-2.0',
  'OFL-1.1',
  'Unlicense',
]);

describe('project folders', () => {
  it('each have a README that says what belongs there', () => {
    const tops = new Set(
      projectFiles()
        .filter((path) => path.includes('/') && !path.startsWith('.'))
        .map((path) => path.split('/')[0] ?? ''),
    );
    const own = workspacePackages()
      .map((each) => each.folder)
      .filter((folder) => folder !== '.');
    const wanted = [...tops, ...own, 'docs/decisions', 'native/sandbox-agent'].filter((folder) =>
      existsSync(join(PROJECT_ROOT, folder)),
    );
    expect([...new Set(wanted)].filter((folder) => !existsSync(join(PROJECT_ROOT, folder, 'README.md')))).toEqual([]);
  });
});

describe('dependencies', () => {
  it('are locked without a registry address', () => {
    expect(
      locked.filter(([, each]) => each.link !== true && each.resolved !== undefined).map(([name]) => name),
    ).toEqual([]);
    expect(readProjectFile('package-lock.json')).not.toMatch(/https?:\/\/[^"]*\.tgz/);
  });

  it('need no install script', () => {
    const scripted = locked.filter(([, each]) => each.hasInstallScript === true).map(([name]) => name);
    expect(scripted.filter((name) => !WORK_WITHOUT_SCRIPT.has(name))).toEqual([]);
    expect(readProjectFile('.npmrc')).toMatch(/^ignore-scripts=true$/m);
  });

  it('are pinned to one version each', () => {
    const loose = workspacePackages().flatMap((own) =>
      Object.entries({ ...own.dependencies, ...own.devDependencies })
        .filter(
          ([name, range]) =>
            !(name.startsWith('@svc/') && range === '*') &&
            !/^(npm:(@[^@]+|[^@]+)@)?\d+\.\d+\.\d+(-[a-z0-9.]+)?$/.test(range),
        )
        .map(([name, range]) => `${own.folder}: ${name} ${range}`),
    );
    expect(loose).toEqual([]);
  });

  it('have permissive licenses', () => {
    const unknown = locked
      .filter(([name, each]) => name.includes('node_modules/') && each.link !== true)
      .filter(
        ([name, each]) =>
          !licencesOf(each.license ?? LICENCES_READ_BY_HAND[name]).some((licence) => LICENCES.has(licence)),
      )
      .map(([name, each]) => `${name}: ${each.license ?? 'no licence'}`);
    expect(unknown).toEqual([]);
  });
});

describe('tracked text', () => {
  it('names no folder of the machine it was written on', () => {
    expect(filesWith(machinePaths())).toEqual([]);
  });

  it('names no host of a package registry', () => {
    expect(filesWith(registryHosts())).toEqual([]);
  });
});

function licencesOf(expression = ''): string[] {
  return expression.replaceAll(/[()]/g, '').split(/ OR | AND /);
}

function filesWith(words: readonly string[]): string[] {
  const text = projectFiles().filter((path) => !/\.(png|woff2?|ico|gz)$|(^|\/)bin\//.test(path));
  return text.flatMap((path) => {
    const content = readProjectFile(path);
    return words.filter((word) => content.includes(word)).map((word) => `${path}: ${word}`);
  });
}

/** This copy's folder and its parent, unless that exists on every machine. */
function machinePaths(): string[] {
  const ordinary = ['/', '/tmp', '/home', '/root', '/opt', '/srv', '/usr', '/var', '/mnt', '/app', '/src', '/build'];
  const parent = dirname(PROJECT_ROOT);
  return [PROJECT_ROOT, parent].filter((path) => !ordinary.includes(path)).map((path) => `${path}/`);
}

/**
 * The public registries, written in parts so that this file does not contain them, and those configured on this
 * machine.
 */
function registryHosts(): string[] {
  const known = [
    ['registry', 'npmjs', 'org'],
    ['pypi', 'org'],
    ['files', 'pythonhosted', 'org'],
    ['proxy', 'golang', 'org'],
    ['sum', 'golang', 'org'],
  ];
  const settings = [npmRegistry(), process.env['GOPROXY'] ?? '', process.env['PIP_INDEX_URL'] ?? ''];
  const here = settings
    .flatMap((setting) => setting.split(/[,|]/))
    .map((address) => URL.parse(address)?.hostname ?? '');
  return [
    ...known.map((parts) => parts.join('.')),
    ...here.filter((host) => host !== '' && host !== 'localhost' && host !== '127.0.0.1'),
  ];
}

function npmRegistry(): string {
  return execFileSync('npm', ['config', 'get', 'registry'], {
    cwd: PROJECT_ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}
