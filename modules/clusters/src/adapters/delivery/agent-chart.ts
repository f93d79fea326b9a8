import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { writeTar, type TarEntry } from '@svc/archive';

const compress = promisify(gzip);

export interface PackedChart {
  content: Buffer;
  /** Strong entity tag (RFC 9110, 8.8.3), identical on every replica that runs the same version. */
  etag: string;
}

/**
 * Packs the chart on first use and caches the result: the folder ships with the product, and its route needs no
 * sign-in. A failed attempt is not cached.
 */
export function createPackedChart(folder: string): () => Promise<PackedChart> {
  let packed: Promise<PackedChart> | undefined;
  const pack = async (): Promise<PackedChart> => {
    const content = await packChart(folder);
    return { content, etag: `"${hash('sha256', content, 'base64url')}"` };
  };
  return () => {
    packed ??= pack().catch((error: unknown) => {
      packed = undefined;
      throw error;
    });
    return packed;
  };
}

/** Builds the archive that `helm package` builds: a gzipped tar of one folder named after the chart. */
async function packChart(folder: string): Promise<Buffer> {
  const name = parseName(await readFile(join(folder, 'Chart.yaml'), 'utf8'));
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = found.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
  const entries = files.toSorted().map(async (file): Promise<TarEntry> => {
    return { type: 'file', path: join(name, file.slice(folder.length)), content: await readFile(file) };
  });
  const chunks: Buffer[] = [];
  for await (const chunk of writeTar(await Promise.all(entries))) chunks.push(chunk);
  return compress(Buffer.concat(chunks));
}

function parseName(chart: string): string {
  const name = /^name: *([a-z\d-]+)$/m.exec(chart)?.[1];
  if (name === undefined) throw new Error('Chart.yaml has no name');
  return name;
}
