import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isTest, projectFiles } from './project-files.ts';
import { typeScriptSources, type ImportOf } from './typescript-source.ts';
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

/** Files at the root of each module's `src`; `quotas.ts` is optional. */
const ROOT_FILES: ReadonlySet<string> = new Set([
  'index.ts',
  'module.ts',
  'config.ts',
  'errors.ts',
  'quotas.ts',
  'state.ts',
]);
/**
 * Allowed imports of each room, types included. Every room may import the error catalog, the configuration and the
 * quotas.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: ['domain'],
  store: ['store', 'domain'],
  adapters: ['adapters', 'domain'],
  s3: ['s3', 'domain'],
  ssh: ['ssh', 'domain'],
  e2b: ['e2b', 'routes', 'domain'],
  routes: ['routes', 'adapters', 's3', 'domain'],
  assembly: ['assembly', 'routes', 's3', 'ssh', 'e2b', 'adapters', 'store', 'domain'],
};
/** Every module has these; `s3`, `ssh` and `e2b` belong to one module each. */
const COMMON_ROOMS = ['routes', 'domain', 'store', 'adapters', 'assembly'] as const;
const TEST_ROOMS: ReadonlySet<string> = new Set(['support', 'contract', 'integration', 'crash']);

const sources = typeScriptSources().filter((source) => source.path.startsWith('modules/') && !isTest(source.path));

/** `modules/clusters/src/domain/cluster.ts` -> `domain`; null for a file at the root of `src`. */
function roomOf(path: string): string | null {
  const [, , , room, file] = path.split('/');
  return file === undefined ? null : (room ?? null);
}

function inRooms(...rooms: readonly string[]): (typeof sources)[number][] {
  return sources.filter((source) => source.path.includes('/src/') && rooms.includes(roomOf(source.path) ?? ''));
}

/** Types count as well: the words for callers are in `@svc/access`, those for limits in `@svc/quotas`. */
function isHttp(each: ImportOf): boolean {
  const name = packageNameOf(each.specifier);
  return HTTP_LIBRARIES.has(name) || name.startsWith('@fastify/');
}

/** Types count as well: a file that names `Kysely` speaks SQL. */
function isSql(each: ImportOf): boolean {
  return SQL_LIBRARIES.has(packageNameOf(each.specifier));
}

function complaints(
  among: readonly (typeof sources)[number][],
  refuses: (each: ImportOf, path: string) => boolean,
): string[] {
  return among.flatMap(({ path, imports }) =>
    imports.filter((each) => refuses(each, path)).map((each) => `${path} imports ${each.specifier}`),
  );
}

describe('the rooms of a module', () => {
  it('are the same in every module', () => {
    const strangers = projectFiles().filter((path) => {
      const [zone, , part, room, file] = path.split('/');
      if (zone !== 'modules' || !/\.tsx?$/.test(path)) return false;
      if (part === 'src')
        return file === undefined ? !ROOT_FILES.has(room ?? '') : !Object.hasOwn(MAY_IMPORT, room ?? '');
      return part === 'test' ? !TEST_ROOMS.has(room ?? '') : part !== 'scripts';
    });
    expect(strangers).toEqual([]);
    const files = projectFiles();
    const modules = new Set(files.flatMap((path) => /^modules\/[^/]+\/src\//.exec(path) ?? []));
    const missing = [...modules].flatMap((source) =>
      COMMON_ROOMS.map((room) => `${source}${room}/`).filter((room) => !files.some((path) => path.startsWith(room))),
    );
    expect(missing).toEqual([]);
  });

  it('import in one direction', () => {
    const rooms = Object.keys(MAY_IMPORT);
    const broken = complaints(inRooms(...rooms), ({ specifier }, path) => {
      if (!specifier.startsWith('.')) return false;
      const target = roomOf(posix.join(posix.dirname(path), specifier));
      return target !== null && !MAY_IMPORT[roomOf(path) ?? '']?.includes(target);
    });
    expect(broken).toEqual([]);
  });

  it('keep HTTP out of the domain and the store', () => {
    expect(complaints(inRooms('domain', 'store'), isHttp)).toEqual([]);
  });

  it('keep SQL in the store', () => {
    expect(complaints(inRooms('domain', 'routes', 's3', 'ssh', 'e2b', 'adapters'), isSql)).toEqual([]);
  });

  it('keep integration tests and test support out of src', () => {
    const inside = typeScriptSources().filter(({ path }) => /^(modules|apps)\/[^/]+\/src\//.test(path));
    expect(inside.filter(({ path }) => /\/(testing|support)\//.test(path)).map(({ path }) => path)).toEqual([]);
    expect(complaints(inside, ({ specifier }) => /\/test\/(support|contract)\//.test(specifier))).toEqual([]);
  });
});
