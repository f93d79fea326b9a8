import { posix } from 'node:path';
import { builtinModules } from 'node:module';
import { describe, expect, it } from 'vitest';
import { isTest } from './project-files.ts';
import { typeScriptSources, type ImportOf, type TypeScriptSource } from './typescript-source.ts';
import { packageNameOf, packageOf, workspacePackages, type WorkspacePackage, type Zone } from './workspace.ts';

const packages = workspacePackages();
const byName = new Map(packages.map((each) => [each.name, each]));
const root = packages.find((each) => each.folder === '.');
const sources = typeScriptSources();

/** Allowed imports at run time; tests may also use the migrations and shared test code. */
const ALLOWED: Readonly<Record<Zone, readonly Zone[]>> = {
  packages: ['packages'],
  migrations: ['packages'],
  modules: ['packages'],
  sdks: [],
  apps: ['packages', 'modules', 'sdks', 'migrations', 'apps'],
  test: ['packages', 'modules', 'sdks', 'migrations', 'apps', 'test'],
  bench: ['packages', 'modules', 'sdks', 'migrations', 'apps', 'test', 'bench'],
  tools: ['packages', 'tools'],
  root: [],
};

/** Between apps: only the CLI starts the other two and knows the console's build. */
const APPS_OF_THE_COMMAND: ReadonlySet<string> = new Set(['apps/platform', 'apps/agent', 'apps/console']);

function eachImport(
  visit: (source: TypeScriptSource, own: WorkspacePackage, each: ImportOf) => string | null,
): string[] {
  return sources.flatMap((source) => {
    const own = packageOf(source.path, packages);
    if (own === undefined) return [];
    return source.imports.flatMap((each) => {
      const complaint = visit(source, own, each);
      return complaint === null ? [] : [`${source.path} imports ${each.specifier}: ${complaint}`];
    });
  });
}

function targetOf(each: ImportOf): WorkspacePackage | undefined {
  return byName.get(packageNameOf(each.specifier));
}

describe('import rules', () => {
  it('let packages import packages, modules import packages, and apps import both', () => {
    const broken = eachImport((source, own, each) => {
      const target = targetOf(each);
      if (target === undefined || target === own || ALLOWED[own.zone].includes(target.zone)) return null;
      if (own.zone === 'sdks' && target.name === '@svc/protocol' && each.typeOnly) return null;
      const forTests = target.zone === 'migrations' || target.name === '@svc/testing';
      if (isTest(source.path) && forTests && own.zone !== 'packages') return null;
      return `${own.zone} do not import ${target.zone}`;
    });
    expect(broken).toEqual([]);
  });

  it('forbid imports between modules', () => {
    const broken = eachImport((_source, own, each) => {
      const target = targetOf(each);
      return own.zone === 'modules' && target?.zone === 'modules' && target !== own ? 'another module' : null;
    });
    expect(broken).toEqual([]);
  });

  it('let only the platform assemble modules', () => {
    const broken = eachImport((source, own, each) => {
      const fromElsewhere = own.zone === 'apps' && own.folder !== 'apps/platform' && !isTest(source.path);
      return fromElsewhere && targetOf(each)?.zone === 'modules' ? 'only apps/platform constructs adapters' : null;
    });
    expect(broken).toEqual([]);
  });

  it('let only the CLI import other apps', () => {
    const broken = eachImport((source, own, each) => {
      const target = targetOf(each);
      if (target?.zone !== 'apps' || target === own || own.zone !== 'apps' || isTest(source.path)) return null;
      return own.folder === 'apps/cli' && APPS_OF_THE_COMMAND.has(target.folder) ? null : 'an app';
    });
    expect(broken).toEqual([]);
  });

  it('let only tests import test support', () => {
    const broken = eachImport((source, _own, each) => {
      return targetOf(each)?.name === '@svc/testing' && !isTest(source.path) ? 'this is no test' : null;
    });
    expect(broken).toEqual([]);
  });

  it('require imports of other packages by name and public entry, never by path', () => {
    const broken = eachImport((source, own, each) => {
      if (each.specifier.startsWith('.')) {
        if (own.zone === 'root') return null; // tool settings may refer to their subjects
        const path = posix.normalize(posix.join(posix.dirname(source.path), each.specifier));
        // The product's single version is in the root's package.json.
        return packageOf(path, packages) === own || path === 'package.json' ? null : 'the path leaves the package';
      }
      const target = targetOf(each);
      if (target === undefined) return null;
      const subpath = `.${each.specifier.slice(target.name.length)}`;
      return Object.hasOwn(target.exports, subpath) ? null : `${target.name} does not export ${subpath}`;
    });
    expect(broken).toEqual([]);
  });

  it('allow only imports that the package’s own package.json declares', () => {
    const broken = eachImport((source, own, each) => {
      const name = packageNameOf(each.specifier);
      if (name.startsWith('.') || name.startsWith('node:') || name.startsWith('virtual:') || name === own.name)
        return null;
      if (name === '@svc/testing' && isTest(source.path)) return null;
      if (builtinModules.includes(name)) return 'built-in modules are written with node:';
      const known = { ...own.dependencies, ...(isTest(source.path) || each.typeOnly ? own.devDependencies : {}) };
      const fromRoot = root !== undefined && isTest(source.path) ? root.devDependencies : {};
      const isConfig = source.path.endsWith('.config.ts');
      if (isConfig)
        return Object.hasOwn({ ...known, ...own.devDependencies, ...root?.devDependencies }, name)
          ? null
          : 'not declared';
      return Object.hasOwn({ ...known, ...fromRoot }, name) ? null : `not in ${own.folder}/package.json`;
    });
    expect(broken).toEqual([]);
  });
});
