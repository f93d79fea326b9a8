import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { debianPackageOf, PYTHON_VENV, PYTHON_WEBSOCKETS } from '@svc/testing';
import type { SystemPackage } from '@svc/system-packages';

const CALLS = /\b(?:requirement\(([^)]*)\)|describeRequiring\(\s*\[([^\]]*)\])/g;

/**
 * Debian packages that test files ask for by `requirement('command:crun')` or `describeRequiring(['command:crun'], …)`,
 * so that a suite names what it needs in one place only.
 */
export function packagesNeededBy(files: readonly string[], root: string): SystemPackage[] {
  const needed = new Map<string, SystemPackage>();
  for (const file of files) {
    for (const name of requirementNames(readFileSync(join(root, file), 'utf8'))) {
      const provides = programOf(name);
      if (provides === null) continue;
      needed.set(provides, { provides, package: debianPackageOf(provides), neededFor: 'tests' });
    }
  }
  return [...needed.values()];
}

/** True when one of the files asks for Go. */
export function needsGo(files: readonly string[], root: string): boolean {
  return files.some((file) => requirementNames(readFileSync(join(root, file), 'utf8')).includes('go'));
}

export function requirementNames(source: string): string[] {
  return [...source.matchAll(CALLS)].flatMap((call) => {
    return [...(call[1] ?? call[2] ?? '').matchAll(/'([^']+)'/g)].map((literal) => literal[1] ?? '');
  });
}

/** Go is not here: Debian's is too old for us and `ensureGo` gets the right one. */
function programOf(name: string): string | null {
  if (name.startsWith('command:')) return name.slice('command:'.length);
  if (name === 'python-websockets') return PYTHON_WEBSOCKETS;
  if (name === 'python-venv') return PYTHON_VENV;
  return name === 'chromium' ? 'chromium' : null;
}
