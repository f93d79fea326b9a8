import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { TarEntry } from '@svc/archive';
import { namesOf, type Architecture } from './architecture.ts';
import { writeLayer, type Layer } from './image-layer.ts';

/** Content of a Debian package and where to write it. */
export interface DebianPackageOptions {
  /** Package to write; never left incomplete. */
  output: string;
  name: string;
  version: string;
  architecture: Architecture;
  /** Further fields of the control file, such as `Depends`. */
  fields: Readonly<Record<string, string>>;
  /** `postinst`, `prerm` and so on. */
  scripts: Readonly<Record<string, string>>;
  /** Paths below `/` that belong to the administrator: an upgrade keeps changes to them. */
  conffiles: readonly string[];
  entries: readonly TarEntry[];
  /** Keeps the compressed files for later builds. */
  cacheFolder?: string | undefined;
  signal?: AbortSignal | undefined;
}

const MAGIC = '!<arch>\n';
const FORMAT = '2.0\n';

/**
 * Writes a Debian package (deb(5)): an `ar` archive of the format's version, the control files and the files. The same
 * entries give the same bytes.
 */
export async function writeDebianPackage(options: DebianPackageOptions): Promise<{ sizeBytes: number }> {
  const { output, entries, cacheFolder, signal } = options;
  const folder = await mkdtemp(join(tmpdir(), 'svc-debian-'));
  try {
    const data = await writeLayer(entries, { folder, cacheFolder, signal });
    const control = await writeLayer(await controlEntries(options), { folder, signal });
    await pipeline(
      Readable.from(archive(control, data)),
      createWriteStream(`${output}.part`),
      ...(signal === undefined ? [] : [{ signal }]),
    );
    await rename(`${output}.part`, output);
    return { sizeBytes: (await stat(output)).size };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function controlEntries(options: DebianPackageOptions): Promise<TarEntry[]> {
  const { name, version, architecture, fields, scripts, conffiles, entries } = options;
  const sizeTotalKib = entries.reduce((total, entry) => total + sizeKib(entry), 0);
  const lines = Object.entries({
    Package: name,
    Version: version,
    Architecture: namesOf(architecture).debian,
    'Installed-Size': String(sizeTotalKib),
    ...fields,
  }).map(([field, value]) => `${field}: ${value}\n`);
  return [
    { type: 'file', path: 'control', content: lines.join('') },
    { type: 'file', path: 'conffiles', content: conffiles.map((path) => `/${path}\n`).join('') },
    { type: 'file', path: 'md5sums', content: await md5sums(entries, new Set(conffiles)) },
    ...Object.entries(scripts).map(([path, content]): TarEntry => ({ type: 'file', path, mode: 0o755, content })),
  ];
}

/** As `dpkg-gencontrol` counts: each file rounded up, one KiB for anything else. */
function sizeKib(entry: TarEntry): number {
  if (entry.type === 'stored') return Math.ceil(entry.sizeBytes / 1024);
  return entry.type === 'file' ? Math.ceil(Buffer.byteLength(entry.content) / 1024) : 1;
}

/** For `dpkg --verify`; the format knows no other hash. */
async function md5sums(entries: readonly TarEntry[], conffiles: ReadonlySet<string>): Promise<string> {
  const lines: string[] = [];
  for (const entry of entries) {
    if ((entry.type !== 'file' && entry.type !== 'stored') || conffiles.has(entry.path)) continue;
    const content = entry.type === 'file' ? entry.content : await readFile(entry.file);
    lines.push(`${createHash('md5').update(content).digest('hex')}  ${entry.path}\n`);
  }
  return lines.toSorted((left, right) => (left.slice(34) < right.slice(34) ? -1 : 1)).join('');
}

async function* archive(control: Layer, data: Layer): AsyncGenerator<Buffer> {
  yield Buffer.from(MAGIC + memberHeader('debian-binary', FORMAT.length) + FORMAT);
  for (const [name, part] of [['control.tar.gz', control] as const, ['data.tar.gz', data] as const]) {
    yield Buffer.from(memberHeader(name, part.sizeBytes));
    for await (const chunk of createReadStream(part.file)) yield chunk as Buffer; // no encoding is set
    if (part.sizeBytes % 2 === 1) yield Buffer.from('\n');
  }
}

/** Name, time, owner, group, mode and size of a member, in fixed columns. */
function memberHeader(name: string, sizeBytes: number): string {
  const columns: readonly (readonly [text: string, width: number])[] = [
    [name, 16],
    ['0', 12],
    ['0', 6],
    ['0', 6],
    ['100644', 8],
    [String(sizeBytes), 10],
  ];
  return `${columns.map(([text, width]) => text.padEnd(width)).join('')}\`\n`;
}
