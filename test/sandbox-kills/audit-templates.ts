import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { filesBelow } from '../system/process-facts.ts';
import type { Records } from './api.ts';
import { namesIn, textOf } from './ground.ts';

/** Marks the sandboxes of builds. */
const BUILD_LABEL = 'svc-template-build';
/** Caches are kept for days without use. */
const LONG_AGO = new Date('2000-01-01');

/** A layer as the database records it; no API shows layers. */
export interface LayerRecord {
  readonly id: string;
  readonly digest: string;
  /** Of the build whose image it holds; null for a layer of the cache. */
  readonly buildId: string | null;
}

export function databaseOf(dataFolder: string, readOnly = true): DatabaseSync {
  return new DatabaseSync(join(dataFolder, 'svc.db'), { readOnly, timeout: 10_000 });
}

export function readLayers(dataFolder: string): LayerRecord[] {
  using database = databaseOf(dataFolder);
  const rows = database.prepare('SELECT id, digest, cache_key FROM template_layer').all();
  return rows.map(({ id, digest, cache_key: key }) => ({
    id: String(id),
    digest: String(digest),
    buildId: /^build (.+)$/.exec(String(key))?.[1] ?? null,
  }));
}

/** Layers that belong to no build although no build needs them, and do not serve as a cache. */
export function unusedLayers(dataFolder: string): string[] {
  using database = databaseOf(dataFolder);
  const builds = new Set(
    database
      .prepare('SELECT layer_id FROM template_build')
      .all()
      .map((row) => row['layer_id']),
  );
  return readLayers(dataFolder)
    .filter(({ id, buildId }) => buildId !== null && !builds.has(id))
    .map(({ id, buildId }) => `layer ${id} of build ${buildId} is left over`);
}

/** Builds under way, their sandboxes, and layers whose record, file and hold do not match. */
export function unsettledBuilds(
  dataFolder: string,
  { sandboxes, templates }: Pick<Records, 'sandboxes' | 'templates'>,
  layers: readonly LayerRecord[],
): string[] {
  const holds = holdsIn(join(dataFolder, 'sandboxes/images/holds'));
  const recorded = new Set(layers.map(({ id }) => id));
  return [
    ...templates.flatMap(({ name, builds }) =>
      builds
        .filter(({ status }) => status === 'waiting' || status === 'building')
        .map(({ id, status }) => `build ${id} of template ${name} is still ${status}`),
    ),
    ...sandboxes.flatMap(({ id, labels }) => {
      const build = labels[BUILD_LABEL];
      return build === undefined ? [] : [`${id}, a sandbox of build ${build}, is left over`];
    }),
    ...readyLayers(dataFolder)
      .filter((id) => !recorded.has(id))
      .map((id) => `layer ${id} of a finished build has no record`),
    ...layers.flatMap(({ id, digest }) => [
      ...wrongDigest(`the file of layer ${id}`, builtDigest(dataFolder, id), digest),
      ...wrongDigest(`the hold of layer ${id}`, holds.get(id) ?? null, digest),
    ]),
  ];
}

/** Layers of builds that sandboxes can be created from. */
function readyLayers(dataFolder: string): string[] {
  using database = databaseOf(dataFolder);
  const rows = database.prepare("SELECT layer_id FROM template_build WHERE status = 'ready'").all();
  return rows.map((row) => String(row['layer_id']));
}

function wrongDigest(subject: string, found: string | null, expected: string): string[] {
  if (found === null) return [`${subject} is missing`];
  return found === expected ? [] : [`${subject} names the image ${found}, expected ${expected}`];
}

function builtDigest(dataFolder: string, id: string): string | null {
  const text = textOf(join(dataFolder, 'sandboxes/built', `${id}.json`));
  return text === '' ? null : (JSON.parse(text) as { digest: string }).digest; // written by the platform
}

/** Digests of images by holder. */
function holdsIn(folder: string): Map<string, string> {
  const groups = namesIn(folder).map((group) => join(folder, group));
  return new Map(
    groups.flatMap((group) => namesIn(group).map((holder) => [holder, textOf(join(group, holder))] as const)),
  );
}

/** Uploaded archives that were answered as stored and are not there. */
export function missingUploads(dataFolder: string, uploads: ReadonlyMap<string, boolean>): string[] {
  const stored = new Set(uploadsIn(dataFolder).map((file) => file.split('/').at(-1)));
  const answered = [...uploads].filter(([, isAnswered]) => isAnswered).map(([hash]) => `sha256-${hash}`);
  return answered.filter((name) => !stored.has(name)).map((name) => `the uploaded archive ${name} is missing`);
}

/** Paths of uploaded archives. */
export function uploadsIn(dataFolder: string): string[] {
  const folder = join(dataFolder, 'sandboxes/template-files');
  return filesBelow(folder).map((path) => join(folder, path));
}

/** Makes everything that is kept as a cache look unused for long; no platform may run. */
export function expireCaches(dataFolder: string): void {
  using database = databaseOf(dataFolder, false);
  database.prepare('UPDATE template_layer SET last_used_at = ?').run(LONG_AGO.toISOString());
  for (const file of uploadsIn(dataFolder)) utimesSync(file, LONG_AGO, LONG_AGO);
}

/** What is left of caches. */
export function cachesIn(dataFolder: string): string[] {
  const layers = readLayers(dataFolder).map(({ id }) => `layer ${id}`);
  const files = namesIn(join(dataFolder, 'sandboxes/built')).map((name) => join(dataFolder, 'sandboxes/built', name));
  return [...layers, ...files, ...uploadsIn(dataFolder)];
}
