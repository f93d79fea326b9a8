import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { debianPackageOf, HEADLESS_SHELL, PYTHON_VENV, PYTHON_WEBSOCKETS } from '@svc/testing';
import type { SystemPackage } from '@svc/system-packages';

/** Imports of lists that several suites share. */
const SHARED = /\bfrom '(\.{1,2}\/(?:[^']*\/)?requirements\.ts)'/g;
const LISTS = /: readonly RequirementName\[\] = \[([^\]]*)\]/g;
const CALLS = /\b(?:requirement\(([^)]*)\)|describeRequiring\(\s*\[([^\]]*)\])/g;

/**
 * Returns the Debian packages of test files with `requirement('command:crun')` or `describeRequiring(['command:crun'],
 * …)`, so that a suite names its requirements only once.
 */
export function packagesNeededBy(files: readonly string[], root: string): SystemPackage[] {
  const needed = new Map<string, SystemPackage>();
  for (const file of files) {
    for (const name of readRequirements(join(root, file))) {
      const provides = programOf(name);
      if (provides === null) continue;
      needed.set(provides, { provides, package: debianPackageOf(provides), neededFor: 'tests' });
    }
  }
  return [...needed.values()];
}

/** Whether one of the files requires Go. */
export function needsGo(files: readonly string[], root: string): boolean {
  return files.some((file) => readRequirements(join(root, file)).includes('go'));
}

/** Returns the requirements that a test file names itself, or by a shared list. */
export function readRequirements(file: string): string[] {
  const source = readFileSync(file, 'utf8');
  const shared = [...source.matchAll(SHARED)].map(([, path = '']) => readFileSync(join(dirname(file), path), 'utf8'));
  const lists = shared.flatMap((text) => [...text.matchAll(LISTS)]);
  return [...requirementNames(source), ...lists.flatMap(([, list = '']) => literalsIn(list))];
}

export function requirementNames(source: string): string[] {
  return [...source.matchAll(CALLS)].flatMap((call) => literalsIn(call[1] ?? call[2] ?? ''));
}

function literalsIn(list: string): string[] {
  return [...list.matchAll(/'([^']+)'/g)].map((literal) => literal[1] ?? '');
}

/** Excludes Go: Debian's is too old, and `ensureGo` gets the right one. */
function programOf(name: string): string | null {
  if (name.startsWith('command:')) return name.slice('command:'.length);
  if (name === 'python-websockets') return PYTHON_WEBSOCKETS;
  if (name === 'python-venv') return PYTHON_VENV;
  if (name === 'chromium') return HEADLESS_SHELL;
  return name === 'full-chromium' ? 'chromium' : null;
}
