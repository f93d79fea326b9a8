import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sandboxErrors } from '../../errors.ts';
import type { ImageEntry } from '../../domain/images/catalog.ts';
import { describeSource, fetchFrom, type FetchedImage, type SourceContext } from './sources/image-source.ts';
import { ownToken } from './disk/process-token.ts';

export interface PreparedFrom {
  readonly image: FetchedImage;
  /** The source it came from, for people. */
  readonly source: string;
}

/** Tries an image's sources in order. Throws IMAGE_PULL_FAILED with the reason of each source. */
export async function fetchFromSources(
  entry: ImageEntry,
  workRoot: string,
  shared: Omit<SourceContext, 'workFolder'>,
): Promise<PreparedFrom> {
  const reasons: string[] = [];
  for (const spec of entry.sources) {
    const source = describeSource(spec);
    shared.signal.throwIfAborted();
    shared.progress.begin(source, spec.kind === 'registry' ? 'resolving' : 'building');
    const workFolder = join(workRoot, `${ownToken()}-${randomBytes(6).toString('hex')}`);
    try {
      await mkdir(workFolder, { recursive: true, mode: 0o700 });
      return { image: await fetchFrom(spec, { ...shared, workFolder }), source };
    } catch (error) {
      reasons.push(`${source}: ${describeReason(error)}`);
    } finally {
      await rm(workFolder, { recursive: true, force: true });
    }
  }
  throw sandboxErrors.IMAGE_PULL_FAILED({ details: { image: entry.name, reason: reasons.join(' | ') } });
}

function describeReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT' || error.code === 'DISK_FULL')) {
    return 'this machine has no disk space left for it';
  }
  return error.message;
}
