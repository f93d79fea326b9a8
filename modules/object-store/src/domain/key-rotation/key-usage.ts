import { SEALED_KINDS, parseStoreKey, type RowKey, type SealedKind, type StoreKey } from '../ports/key-ring.ts';
import type { MetadataStore } from '../ports/metadata-store.ts';
import { sealedTexts } from './sealed-bodies.ts';

const PAGE = 500;

export interface KeyUsage {
  /** 0 is the master key itself, used before the ring existed. */
  id: number;
  /** Null for the master key. */
  key: StoreKey | null;
  /** Rows that hold something sealed under the key, by kind. */
  rows: Readonly<Record<SealedKind, number>>;
}

/** Counts what each key still seals. Reads every row, page by page. */
export async function readKeyUsage(
  metadata: Pick<MetadataStore, 'storeKeys' | 'sealedRows'>,
): Promise<readonly KeyUsage[]> {
  const counts = new Map<number, Record<SealedKind, number>>();
  for (const kind of SEALED_KINDS) {
    for (let after: RowKey | null = null; ;) {
      const rows = await metadata.sealedRows({ kind, after, limit: PAGE });
      for (const row of rows) {
        const ids = sealedTexts(kind, row).map(({ sealed }) => parseStoreKey(sealed) ?? 0);
        for (const id of new Set(ids)) count(counts, id, kind);
      }
      if (rows.length < PAGE) break;
      after = rows.at(-1)?.key ?? null;
    }
  }
  const keys = await metadata.storeKeys({});
  const ids = new Set([...keys.map(({ id }) => id), ...counts.keys()]);
  return [...ids]
    .toSorted((left, right) => left - right)
    .map((id) => ({ id, key: keys.find((key) => key.id === id) ?? null, rows: counts.get(id) ?? none() }));
}

function count(counts: Map<number, Record<SealedKind, number>>, id: number, kind: SealedKind): void {
  const known = counts.get(id) ?? none();
  known[kind] += 1;
  counts.set(id, known);
}

function none(): Record<SealedKind, number> {
  return { object: 0, upload: 0, 'access-key': 0, certificate: 0, 'acme-account': 0, notification: 0 };
}
