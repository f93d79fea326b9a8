import type { AgingVersion } from '../ports/lifecycle-metadata.ts';
import type { MetadataStore } from '../ports/metadata-store.ts';
import type { VersionPlace } from './decide-expiry.ts';
import type { LifecycleDocument } from './lifecycle-document.ts';

const PAGE = 1_000;

export interface PlacedVersion {
  version: AgingVersion;
  place: VersionPlace;
}

interface Newer {
  version: AgingVersion;
  /** How many of the key are not current, up to and with this one. */
  noncurrent: number;
}

/** The prefixes that the enabled rules are about, none within another: nothing else of a bucket is read. */
export function prefixesOf({ rules }: LifecycleDocument): readonly string[] {
  const looking = rules.filter(
    (rule) => rule.enabled && (rule.expiration ?? rule.noncurrentVersionExpiration) !== null,
  );
  const prefixes = [...new Set(looking.map((rule) => rule.filter.prefix))];
  return prefixes
    .filter((prefix) => !prefixes.some((other) => other !== prefix && prefix.startsWith(other)))
    .toSorted();
}

/**
 * The versions below a prefix with what stands around each, page by page: `onPage` is called between pages with the last
 * key that is done with, and false from it ends the scan.
 */
export async function* scanVersions(
  metadata: Pick<MetadataStore, 'agingVersions'>,
  where: { bucketId: number; prefix: string; afterKey: string },
  onPage: (doneKey: string) => Promise<boolean>,
): AsyncGenerator<PlacedVersion> {
  const { bucketId, prefix } = where;
  let after: { afterKey: string; afterOrderKey: number | null } = { afterKey: where.afterKey, afterOrderKey: null };
  let before = null as Newer | null; // or its type would be narrowed to null for the whole loop
  for (;;) {
    const page: readonly AgingVersion[] = await metadata.agingVersions({ bucketId, prefix, ...after, limit: PAGE + 1 });
    const versions = page.slice(0, PAGE);
    for (const [index, version] of versions.entries()) {
      const newer: Newer | null = before?.version.key === version.key ? before : null;
      const noncurrent = newer === null ? 0 : newer.noncurrent;
      const alone = newer === null && page[index + 1]?.key !== version.key;
      yield {
        version,
        place: { replacedAtMs: newer?.version.modifiedAtMs ?? null, newerNoncurrent: noncurrent, alone },
      };
      before = { version, noncurrent: newer === null ? 0 : noncurrent + 1 };
    }
    const last = versions.at(-1);
    if (last === undefined || page.length <= PAGE) return;
    after = { afterKey: last.key, afterOrderKey: last.orderKey };
    if (!(await onPage(lastWholeKey(versions) ?? where.afterKey))) return;
  }
}

/** The last key of which nothing follows on the next page: a scan that stops goes on behind it. */
function lastWholeKey(versions: readonly AgingVersion[]): string | null {
  const last = versions.at(-1);
  return versions.findLast((version) => version.key !== last?.key)?.key ?? null;
}
