import { readdir, readFile, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';

const COMPRESSIBLE: ReadonlySet<string> = new Set(['.js', '.css', '.html', '.svg', '.json']);
/** Below this size, compression is not worth the extra files. */
const SMALLEST_BYTES = 512;

/** Adds `.br` and `.gz` next to each text file at the highest level: once per build, never while serving. */
export function precompress(): Plugin {
  let folder = '';
  return {
    name: 'svc:precompress',
    apply: 'build',
    configResolved(config) {
      folder = config.build.outDir;
    },
    async closeBundle() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      for (const entry of entries) {
        if (entry.isFile() && COMPRESSIBLE.has(extname(entry.name))) {
          await compressFile(join(entry.parentPath, entry.name));
        }
      }
    },
  };
}

async function compressFile(file: string): Promise<void> {
  const content = await readFile(file);
  if (content.byteLength < SMALLEST_BYTES) return;
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  await writeFile(`${file}.br`, await promisify(brotliCompress)(content, { params }));
  await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }));
}
