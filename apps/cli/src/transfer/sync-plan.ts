/** A file or object, named relative to the synchronized root. */
export interface SyncEntry {
  name: string;
  sizeBytes: number;
  modifiedAtMs: number;
}

export type SyncAction<Source extends SyncEntry, Target extends SyncEntry> =
  | { kind: 'copy'; source: Source; reason: 'new' | 'size' | 'newer' | 'content' }
  | { kind: 'skip'; source: Source }
  | { kind: 'delete'; target: Target };

export interface SyncRules<Source extends SyncEntry, Target extends SyncEntry> {
  deleteExtra: boolean;
  sizeOnly: boolean;
  /** If set, compares the contents at equal sizes; times are then ignored. */
  sameContent?: (source: Source, target: Target) => Promise<boolean>;
}

/**
 * Plans the changes that make the target equal to the source. Both are in byte order of their names, so one pass
 * suffices and memory use is constant.
 */
export async function* planSync<Source extends SyncEntry, Target extends SyncEntry>(
  sources: AsyncIterable<Source>,
  targets: AsyncIterable<Target>,
  rules: SyncRules<Source, Target>,
): AsyncGenerator<SyncAction<Source, Target>, void> {
  const [left, right] = [sources[Symbol.asyncIterator](), targets[Symbol.asyncIterator]()];
  try {
    let source = await left.next();
    let target = await right.next();
    while (source.done !== true || target.done !== true) {
      const order = compareHeads(source, target);
      if (order <= 0 && source.done !== true) {
        const other = order === 0 && target.done !== true ? target.value : null;
        yield await decide(source.value, other, rules);
        source = await left.next();
      } else if (target.done !== true && rules.deleteExtra) yield { kind: 'delete', target: target.value };
      if (order >= 0) target = await right.next();
    }
  } finally {
    await Promise.all([left.return?.(undefined), right.return?.(undefined)]);
  }
}

function compareHeads(source: IteratorResult<SyncEntry, unknown>, target: IteratorResult<SyncEntry, unknown>): number {
  if (source.done === true) return 1;
  if (target.done === true) return -1;
  return compareNames(source.value.name, target.value.name);
}

/** Compares by UTF-8 bytes, the order of S3 listings. */
export function compareNames(left: string, right: string): number {
  return left === right ? 0 : Buffer.compare(Buffer.from(left), Buffer.from(right));
}

/**
 * Listings have milliseconds and files may be more precise; HTTP's Last-Modified and old file systems have only
 * seconds.
 */
function unitMs({ modifiedAtMs }: SyncEntry): number {
  return modifiedAtMs % 1000 === 0 ? 1000 : 1;
}

async function decide<Source extends SyncEntry, Target extends SyncEntry>(
  source: Source,
  target: Target | null,
  rules: SyncRules<Source, Target>,
): Promise<SyncAction<Source, Target>> {
  if (target === null) return { kind: 'copy', source, reason: 'new' };
  if (source.sizeBytes !== target.sizeBytes) return { kind: 'copy', source, reason: 'size' };
  if (rules.sizeOnly) return { kind: 'skip', source };
  if (rules.sameContent !== undefined) {
    return (await rules.sameContent(source, target))
      ? { kind: 'skip', source }
      : { kind: 'copy', source, reason: 'content' };
  }
  const isNewer = Math.floor(source.modifiedAtMs / unitMs(target)) > Math.floor(target.modifiedAtMs / unitMs(target));
  return isNewer ? { kind: 'copy', source, reason: 'newer' } : { kind: 'skip', source };
}
