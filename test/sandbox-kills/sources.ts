import { pick, type Client } from './client.ts';
import type { Contents } from './known.ts';
import type { KnownTemplate } from './known-templates.ts';

/** What a sandbox is created from. */
export interface Source {
  /** Fields of the request that name it. */
  readonly fields: { readonly image: string } | { readonly snapshot_id: string | null } | { readonly template: string };
  readonly files: ReadonlyMap<string, Contents>;
  /** Of the disk that it has; null for any. */
  readonly diskMb: number | null;
}

export function anySource(client: Client): Source {
  const { random } = client;
  const drawn = random();
  const found = drawn < 0.2 ? snapshotSource(client) : drawn < 0.35 ? templateSource(client) : null;
  return found ?? { fields: { image: imageFor(client) }, files: new Map(), diskMb: null };
}

function snapshotSource({ random, snapshots }: Client): Source | null {
  const found = pick(
    random,
    snapshots.filter(({ existence }) => existence === 'there'),
  );
  if (found === undefined) return null;
  return { fields: { snapshot_id: found.id }, files: found.files, diskMb: found.wish.resources.disk_mb };
}

/** A build that is certainly there. */
export function templateSource({ templates, random }: Client): TemplateSource | null {
  const found = templates.filter(({ existence }) => existence === 'there');
  return pick(random, found.flatMap(buildsOf)) ?? null;
}

export interface TemplateSource extends Source {
  readonly fields: { readonly template: string };
}

/** The finished builds of a template, as sources. */
function buildsOf({ name, builds }: KnownTemplate): TemplateSource[] {
  return builds.filter(({ end }) => end === 'ready').map((build) => sourceOf(name, build));
}

export function sourceOf(name: string, { tag, files }: KnownTemplate['builds'][number]): TemplateSource {
  return { fields: { template: `${name}:${tag}` }, files, diskMb: null };
}

/** The prepared image, or one not requested yet. */
function imageFor({ random, journal }: Client): string {
  return (random() < 0.3 ? journal.furtherImages.pop() : undefined) ?? 'busybox';
}
