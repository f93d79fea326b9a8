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
  /** Noncurrent versions of the key, up to and including this one. */
  noncurrent: number;
}

/** The prefixes of the enabled rules, without nested ones. Nothing else of a bucket is read. */
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
 * Yields the versions below a prefix with their places, page by page. Calls `onPage` between pages with the last key
 * that is complete; the scan ends if it returns false.
 */
export async function* scanVersions(
  metadata: Pick<MetadataStore, 'agingVersions'>,
  where: { bucketId: number; prefix: string; afterKey: string },
  onPage: (doneKey: string) => Promise<boolean>,
): AsyncGenerator<PlacedVersion> {
  const { bucketId, prefix } = where;
  let after: { afterKey: string; afterOrderKey: number | null } = { afterKey: where.afterKey, afterOrderKey: null };
  let before = null as Newer | null; // prevents narrowing to null for the whole loop
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

/** The last key that does not continue on the next page. An interrupted scan resumes after it. */
function lastWholeKey(versions: readonly AgingVersion[]): string | null {
  const last = versions.at(-1);
  return versions.findLast((version) => version.key !== last?.key)?.key ?? null;
}
