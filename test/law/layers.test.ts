import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isTest } from './project-files.ts';
import { typeScriptSources, type ImportOf, type TypeScriptSource } from './typescript-source.ts';
import { packageNameOf } from './workspace.ts';

const HTTP_LIBRARIES: ReadonlySet<string> = new Set([
  'fastify',
  'ws',
  'node:http',
  'node:https',
  'node:http2',
  '@svc/http',
]);
const SQL_LIBRARIES: ReadonlySet<string> = new Set(['kysely', 'pg', 'node:sqlite', '@svc/sql']);
const HTTP_FOLDERS: ReadonlySet<string> = new Set([
  'acme',
  'api',
  'channel',
  'docker',
  'http',
  'management',
  'registry',
  'routes',
  's3',
  'terminal',
  'tunnel',
]);
const SQL_FOLDERS: ReadonlySet<string> = new Set(['metadata', 'sql', 'store']);
/** A token bucket is arithmetic; it only happens to live beside the server that uses it most. */
const NOT_HTTP: ReadonlySet<string> = new Set(['RateLimiter']);
/** Files that put a module together may see all of its layers. */
const COMPOSITION = /(^|\/)(index|module|assembly|create-services|[a-z-]+-module)\.ts$/;

const sources = typeScriptSources().filter((source) => source.path.startsWith('modules/') && !isTest(source.path));
const byPath = new Map(sources.map((source) => [source.path, source]));

/** The types of `@svc/http` are ports that any layer may name; those of the libraries are not. */
function isHttp(each: ImportOf): boolean {
  const name = packageNameOf(each.specifier);
  if (each.typeOnly && (name === '@svc/http' || name.startsWith('node:'))) return false;
  if (!(HTTP_LIBRARIES.has(name) || name.startsWith('@fastify/'))) return false;
  return each.typeOnly || each.names.some((imported) => !NOT_HTTP.has(imported));
}

/** Types count as well: whoever names `Kysely` speaks SQL. */
function isSql(each: ImportOf): boolean {
  return SQL_LIBRARIES.has(packageNameOf(each.specifier));
}

/** By what it imports; a file without a library of its own belongs to the adapter whose folder it stands in. */
function layerOf(source: TypeScriptSource): 'http' | 'sql' | 'domain' {
  if (source.imports.some(isHttp)) return 'http';
  if (source.imports.some(isSql)) return 'sql';
  const folders = source.path.split('/').slice(3, -1);
  if (folders.some((folder) => HTTP_FOLDERS.has(folder))) return 'http';
  return folders.some((folder) => SQL_FOLDERS.has(folder)) ? 'sql' : 'domain';
}

function reached(source: TypeScriptSource): TypeScriptSource[] {
  return source.imports
    .filter((each) => !each.typeOnly && each.specifier.startsWith('.'))
    .map((each) => byPath.get(posix.join(posix.dirname(source.path), each.specifier)))
    .filter((target) => target !== undefined);
}

/** The first chain of imports from a file of one layer to a file of a layer that it must not know. */
function chainTo(source: TypeScriptSource, forbidden: ReadonlySet<string>, seen: Set<string>): string[] | null {
  for (const target of reached(source)) {
    if (seen.has(target.path)) continue;
    seen.add(target.path);
    if (forbidden.has(layerOf(target))) return [target.path];
    const rest = chainTo(target, forbidden, seen);
    if (rest !== null) return [target.path, ...rest];
  }
  return null;
}

function brokenChains(layer: 'http' | 'sql' | 'domain', forbidden: readonly string[]): string[] {
  return sources
    .filter((source) => layerOf(source) === layer && !COMPOSITION.test(source.path))
    .flatMap((source) => {
      const chain = chainTo(source, new Set(forbidden), new Set([source.path]));
      return chain === null ? [] : [[source.path, ...chain].join(' -> ')];
    });
}

describe('the layers of a module', () => {
  it('has no file that speaks both HTTP and SQL', () => {
    const both = sources.filter((source) => source.imports.some(isHttp) && source.imports.some(isSql));
    expect(both.map((source) => source.path).filter((path) => !COMPOSITION.test(path))).toEqual([]);
  });

  it('keeps the domain from importing HTTP or a SQL driver, also through other files', () => {
    expect(brokenChains('domain', ['http', 'sql'])).toEqual([]);
  });

  it('keeps repositories from importing HTTP, and routes from importing SQL', () => {
    expect([...brokenChains('sql', ['http']), ...brokenChains('http', ['sql'])]).toEqual([]);
  });
});
