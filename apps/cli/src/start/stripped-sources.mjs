/**
 * Loads our TypeScript files from a cache without their types. `svc` preloads this file (`--require`).
 *
 * Node's own compile cache keeps every file that it reads in memory until the process ends, 20 MiB for the platform, and
 * saves no more time than this cache does (decision 0008). Stripping in this process would keep the stripper, 15 MiB.
 * This file is JavaScript because it runs before types can be stripped.
 */
import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const cacheFolder = join(root, '.cache', 'stripped');
/** Folders of `root` with files that `svc` runs. */
const SOURCE_FOLDERS = ['apps', 'migrations', 'modules', 'packages', 'sdks'];
const NOT_RUN = /\.test\.ts$|\.d\.ts$/;
const NOT_SEARCHED = new Set(['node_modules', 'dist', 'test']);
const FILL_TIMEOUT_MS = 120_000;

if (process.argv[1] === import.meta.filename) fillCache();
else loadFromCache();

function loadFromCache() {
  let isFilled = false;
  const rootUrl = pathToFileURL(root).href;
  /** URLs of workspace packages, of which there is one each. */
  const packages = new Map();
  registerHooks({
    // Node.js looks for a package file above each file, once per import: a fifth of the processor time of a start.
    resolve(specifier, context, nextResolve) {
      const { parentURL } = context;
      if (parentURL === undefined || !parentURL.startsWith(rootUrl)) return nextResolve(specifier, context);
      if (specifier.startsWith('.') && specifier.endsWith('.ts') && parentURL.endsWith('.ts')) {
        return { url: new URL(specifier, parentURL).href, format: 'module-typescript', shortCircuit: true };
      }
      if (!specifier.startsWith('@svc/')) return nextResolve(specifier, context);
      const known = packages.get(specifier);
      if (known !== undefined) return known;
      const { url, format } = nextResolve(specifier, context);
      const resolved = { url, format, shortCircuit: true };
      packages.set(specifier, resolved);
      return resolved;
    },
    load(url, context, nextLoad) {
      if (!url.endsWith('.ts') || !url.startsWith('file:')) return nextLoad(url, context);
      const file = fileURLToPath(url);
      if (!file.startsWith(root)) return nextLoad(url, context);
      let source = readStripped(file);
      if (source === null && !isFilled) {
        isFilled = true;
        fillInOtherProcess();
        source = readStripped(file);
      }
      // Without a cache that can be written, Node strips the types itself.
      return source === null ? nextLoad(url, context) : { format: 'module', source, shortCircuit: true };
    },
  });
}

/** @param {string} file */
function readStripped(file) {
  let cached;
  try {
    cached = readFileSync(cachePath(file), 'utf8');
  } catch {
    return null;
  }
  return cached.endsWith(trailer(readFileSync(file, 'utf8'))) ? cached : null;
}

function fillInOtherProcess() {
  const flags = ['--disable-warning=ExperimentalWarning', import.meta.filename];
  spawnSync(process.execPath, flags, { stdio: 'ignore', timeout: FILL_TIMEOUT_MS });
}

/** Strips every file whose cached text is missing or outdated. */
function fillCache() {
  for (const folder of SOURCE_FOLDERS) {
    for (const file of sourcesBelow(join(root, folder))) {
      if (readStripped(file) === null) writeStripped(file);
    }
  }
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function sourcesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return NOT_SEARCHED.has(entry.name) ? [] : sourcesBelow(path);
    return entry.isFile() && entry.name.endsWith('.ts') && !NOT_RUN.test(entry.name) ? [path] : [];
  });
}

/** @param {string} file */
function writeStripped(file) {
  const source = readFileSync(file, 'utf8');
  let stripped;
  try {
    stripped = stripTypeScriptTypes(source);
  } catch {
    return; // invalid or not erasable: Node reports it, if the file is loaded
  }
  const path = cachePath(file);
  const temporary = `${path}.${process.pid}`;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(temporary, stripped + trailer(source));
  renameSync(temporary, path); // another process may be reading the previous one
}

/** @param {string} file */
function cachePath(file) {
  return join(cacheFolder, `${file.slice(root.length)}.js`);
}

/**
 * The end of a complete cached file. The text before it has the line and column of every statement of the source.
 *
 * @param {string} source
 */
function trailer(source) {
  return `\n// stripped from sha256:${hash('sha256', source)}\n`;
}
