import { posix } from 'node:path';
import { projectFiles, readProjectFile } from './project-files.ts';

export type Zone = 'packages' | 'modules' | 'apps' | 'sdks' | 'migrations' | 'test' | 'bench' | 'tools' | 'root';

export interface WorkspacePackage {
  /** `packages/http`, relative to the root. */
  readonly folder: string;
  readonly zone: Zone;
  readonly name: string;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

export function workspacePackages(): WorkspacePackage[] {
  return projectFiles()
    .filter((path) => posix.basename(path) === 'package.json')
    .map((path) => {
      const folder = posix.dirname(path);
      const manifest = JSON.parse(readProjectFile(path)) as Partial<WorkspacePackage>; // our own files
      return {
        folder,
        zone: zoneOf(path),
        name: manifest.name ?? '',
        exports: manifest.exports ?? {},
        dependencies: manifest.dependencies ?? {},
        devDependencies: manifest.devDependencies ?? {},
      };
    });
}

export function zoneOf(path: string): Zone {
  const first = path.split('/')[0] ?? '';
  const zones: readonly Zone[] = ['packages', 'modules', 'apps', 'sdks', 'migrations', 'test', 'bench', 'tools'];
  return zones.find((zone) => zone === first) ?? 'root';
}

/** Returns the package whose folder contains the file: the deepest one. */
export function packageOf(path: string, packages: readonly WorkspacePackage[]): WorkspacePackage | undefined {
  return packages
    .filter((each) => each.folder === '.' || path.startsWith(`${each.folder}/`))
    .toSorted((left, right) => right.folder.length - left.folder.length)[0];
}

/** `@svc/http/x` -> `@svc/http`, `kysely/helpers` -> `kysely`. */
export function packageNameOf(specifier: string): string {
  const parts = specifier.split('/');
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
}
