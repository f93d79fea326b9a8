import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { writeTar, type TarEntry } from '@svc/archive';

const compress = promisify(gzip);

/** A chart as `helm package` makes it: a gzipped tar of one folder, which has the chart's name. */
export async function packChart(folder: string): Promise<Buffer> {
  const name = nameOf(await readFile(join(folder, 'Chart.yaml'), 'utf8'));
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = found.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
  const entries = files.toSorted().map(async (file): Promise<TarEntry> => {
    return { type: 'file', path: join(name, file.slice(folder.length)), content: await readFile(file) };
  });
  const chunks: Buffer[] = [];
  for await (const chunk of writeTar(await Promise.all(entries))) chunks.push(chunk);
  return compress(Buffer.concat(chunks));
}

function nameOf(chart: string): string {
  const name = /^name: *([a-z\d-]+)$/m.exec(chart)?.[1];
  if (name === undefined) throw new Error('Chart.yaml has no name');
  return name;
}
