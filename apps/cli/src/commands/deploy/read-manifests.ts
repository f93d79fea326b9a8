import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { usageFailure } from '../../client/command-failure.ts';

const MANIFEST = /\.(ya?ml|json)$/i;
/** The platform's limit. */
const MAX_SIZE_BYTES = 900 * 1024;

/** Joins all files into one stream of YAML documents. Reads a folder's direct files in order of their names. */
export async function readManifests(paths: readonly string[]): Promise<string> {
  const files = (await Promise.all(paths.map(listFiles))).flat();
  if (files.filter((path) => path === '-').length > 1) throw usageFailure('standard input can be read only once');
  const documents: string[] = [];
  for (const path of files) documents.push(path === '-' ? await text(process.stdin) : await readFile(path, 'utf8'));
  const manifest = documents.map((document) => document.replace(/(?<!\n)\n*$/, '\n')).join('---\n');
  if (manifest.trim() === '') throw usageFailure('the manifest is empty');
  if (Buffer.byteLength(manifest) > MAX_SIZE_BYTES) {
    throw usageFailure(
      `the manifests have more than ${MAX_SIZE_BYTES / 1024} KiB`,
      'split them into several deployments',
    );
  }
  return manifest;
}

async function listFiles(path: string): Promise<string[]> {
  if (path === '-' || !(await stat(path)).isDirectory()) return [path];
  const names = (await readdir(path)).filter((name) => MANIFEST.test(name)).toSorted();
  if (names.length === 0)
    throw usageFailure(`${path} contains no manifests`, 'expected files ending in .yaml, .yml, or .json');
  return names.map((name) => join(path, name));
}
