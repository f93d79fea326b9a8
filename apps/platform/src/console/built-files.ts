import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';

export type ContentEncoding = 'br' | 'gzip' | 'identity';

export interface FileVariant {
  path: string;
  sizeBytes: number;
  etag: string;
}

export interface BuiltFile {
  contentType: string;
  /** The name contains a hash of the content, so cached copies never become stale. */
  immutable: boolean;
  variants: Readonly<Partial<Record<ContentEncoding, FileVariant>>>;
}

export interface BuiltConsole {
  /** By URL path, such as `/assets/index-3f9a.js`. Excludes the document itself. */
  files: ReadonlyMap<string, BuiltFile>;
  document: BuiltFile;
  /** Routes of the console, such as `/w/$workspace/audit`. */
  routes: readonly string[];
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
};
const ENCODING_OF_SUFFIX: Readonly<Record<string, ContentEncoding>> = { '.br': 'br', '.gz': 'gzip' };
const DOCUMENT = '/index.html';
const ROUTE_LIST = '/console.json';

/** Reads the console's build folder. Throws if the document or the route list is missing. */
export async function readBuiltConsole(folder: string): Promise<BuiltConsole> {
  const files = new Map<string, BuiltFile>();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((candidate) => candidate.isFile())) {
    await addFile(files, folder, join(entry.parentPath, entry.name));
  }
  const document = files.get(DOCUMENT);
  const routeList = files.get(ROUTE_LIST)?.variants.identity;
  if (document === undefined || routeList === undefined) throw new Error(`${folder} holds no built console`);
  files.delete(DOCUMENT);
  files.delete(ROUTE_LIST);
  return { files, document, routes: parseRoutes(await readFile(routeList.path, 'utf8')) };
}

async function addFile(files: Map<string, BuiltFile>, folder: string, path: string): Promise<void> {
  const suffix = extname(path);
  const encoding = ENCODING_OF_SUFFIX[suffix] ?? 'identity';
  const plainPath = encoding === 'identity' ? path : path.slice(0, -suffix.length);
  const urlPath = `/${relative(folder, plainPath).split(sep).join('/')}`;
  const content = await readFile(path);
  const etag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
  const known = files.get(urlPath);
  files.set(urlPath, {
    contentType: CONTENT_TYPES[extname(plainPath)] ?? 'application/octet-stream',
    immutable: urlPath.startsWith('/assets/'),
    variants: { ...known?.variants, [encoding]: { path, sizeBytes: content.byteLength, etag } },
  });
}

function parseRoutes(json: string): string[] {
  const parsed: unknown = JSON.parse(json);
  const routes = typeof parsed === 'object' && parsed !== null && 'routes' in parsed ? parsed.routes : undefined;
  if (!Array.isArray(routes)) throw new Error('the route list of the built console is damaged');
  return routes.filter((route): route is string => typeof route === 'string');
}
