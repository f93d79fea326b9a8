import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROJECT_ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** Folders that are never part of the project, for a copy that is not a git repository. */
const LEFT_OUT: ReadonlySet<string> = new Set(['.git', 'node_modules', '.cache', 'data', 'dist', 'coverage', 'out']);

/** Returns the paths of all tracked and untracked files, relative to the root, sorted. */
export function projectFiles(): string[] {
  const paths = existsSync(join(PROJECT_ROOT, '.git')) ? listByGit() : listByWalk(PROJECT_ROOT);
  return paths.filter((path) => existsSync(join(PROJECT_ROOT, path))).toSorted();
}

export function readProjectFile(path: string): string {
  return readFileSync(join(PROJECT_ROOT, path), 'utf8');
}

/** Whether the file is a test or only supports tests. */
export function isTest(path: string): boolean {
  if (/\.(test|campaign)\.tsx?$/.test(path) || /^(test|bench|tools)\//.test(path)) return true;
  return /^(modules|apps)\/[^/]+\/test\/|^packages\/(.*\/)?testing\//.test(path);
}

function listByGit(): string[] {
  const options = { cwd: PROJECT_ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const;
  const output = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], options);
  return output.split('\0').filter((path) => path !== '');
}

function listByWalk(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (LEFT_OUT.has(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? listByWalk(path) : [relative(PROJECT_ROOT, path).split(sep).join('/')];
  });
}
