import { generateBytes, type Body } from './bodies.ts';

interface KnownVersion {
  body: Body;
  /** `leaving`: a deletion was sent but not acknowledged. */
  state: 'there' | 'leaving' | 'gone';
}

/** Number of deleted versions per key that audits still request. */
const REMEMBERED_GONE = 3;

/** What clients know about versions: each acknowledged one has its own ID and stays until its deletion is answered. */
export class VersionJournal {
  readonly #seed: string;
  readonly #keys = new Map<string, Map<string, KnownVersion>>();

  constructor(seed: string) {
    this.#seed = seed;
  }

  written(key: string, versionId: string, body: Body): void {
    this.#versions(key).set(versionId, { body, state: 'there' });
  }

  leaving(key: string, versionId: string): void {
    const version = this.#versions(key).get(versionId);
    if (version !== undefined) version.state = 'leaving';
  }

  gone(key: string, versionId: string): void {
    const versions = this.#versions(key);
    const version = versions.get(versionId);
    if (version !== undefined) version.state = 'gone';
    const gone = [...versions].filter(([, each]) => each.state === 'gone');
    for (const [id] of gone.slice(0, Math.max(0, gone.length - REMEMBERED_GONE))) versions.delete(id);
  }

  /** The oldest existing version, if there are more than `keep`. */
  toDelete(key: string, keep: number): string | null {
    const there = [...this.#versions(key)].filter(([, version]) => version.state === 'there');
    return there.length > keep ? (there[0]?.[0] ?? null) : null;
  }

  *all(): Iterable<{ key: string; versionId: string }> {
    for (const [key, versions] of this.#keys) for (const versionId of versions.keys()) yield { key, versionId };
  }

  judge(key: string, versionId: string, found: Buffer | null): string | null {
    const version = this.#versions(key).get(versionId);
    const name = `${key}?versionId=${versionId}`;
    if (version === undefined) return `${name}: nobody wrote it`;
    if (found === null) {
      if (version.state === 'there') return `${name}: found nothing, expected put ${version.body.number}`;
      this.gone(key, versionId);
      return null;
    }
    if (version.state === 'gone') return `${name}: is there after its deletion was answered`;
    if (!found.equals(generateBytes(this.#seed, version.body))) return `${name}: found ${found.length} other bytes`;
    version.state = 'there';
    return null;
  }

  #versions(key: string): Map<string, KnownVersion> {
    const known = this.#keys.get(key);
    if (known !== undefined) return known;
    const fresh = new Map<string, KnownVersion>();
    this.#keys.set(key, fresh);
    return fresh;
  }
}
