import { createReadStream } from 'node:fs';

interface EntryPlace {
  /** Relative path with `/`, at most 100 bytes, or 255 if it can be split at a folder. */
  path: string;
  /** Permission bits. Defaults to 0644, or 0755 for folders. */
  mode?: number;
  /** User and group id. Defaults to root. */
  owner?: number;
}

/** An entry of a layer or an archive. */
export type TarEntry =
  | (EntryPlace & { type: 'folder' })
  | (EntryPlace & { type: 'link'; target: string })
  | (EntryPlace & { type: 'file'; content: Buffer | string })
  | (EntryPlace & { type: 'stored'; file: string; sizeBytes: number });

const BLOCK_BYTES = 512;
const MAX_NAME_BYTES = 100;
const MAX_PREFIX_BYTES = 155;
const TYPE_FLAGS: Readonly<Record<TarEntry['type'], string>> = { file: '0', stored: '0', link: '2', folder: '5' };

/**
 * Writes a tar archive (POSIX.1-1988 ustar) of the entries in the given order, all dated to the first second of 1970:
 * the same entries yield the same bytes on every machine.
 */
export async function* writeTar(entries: Iterable<TarEntry>): AsyncGenerator<Buffer> {
  for (const entry of entries) {
    const size = sizeOf(entry);
    yield encodeHeader(entry, size);
    if (entry.type === 'file') yield Buffer.from(entry.content);
    if (entry.type === 'stored') yield* storedBytes(entry.file, size);
    const rest = size % BLOCK_BYTES;
    if (rest > 0) yield Buffer.alloc(BLOCK_BYTES - rest);
  }
  yield Buffer.alloc(2 * BLOCK_BYTES);
}

async function* storedBytes(file: string, size: number): AsyncGenerator<Buffer> {
  let seen = 0;
  for await (const chunk of createReadStream(file)) {
    const bytes = chunk as Buffer; // no encoding is set
    seen += bytes.length;
    yield bytes;
  }
  if (seen !== size) throw new Error(`${file} changed while it was read`);
}

function sizeOf(entry: TarEntry): number {
  if (entry.type === 'stored') return entry.sizeBytes;
  return entry.type === 'file' ? Buffer.byteLength(entry.content) : 0;
}

function encodeHeader(entry: TarEntry, size: number): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  const [prefix, name] = splitPath(entry.type === 'folder' ? `${entry.path}/` : entry.path);
  const target = entry.type === 'link' ? entry.target : '';
  if (Buffer.byteLength(target) > MAX_NAME_BYTES) throw tooLong(target);
  const octal = (value: number, at: number, length: number): void => {
    header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at);
  };
  header.write(name, 0);
  octal(entry.mode ?? (entry.type === 'folder' ? 0o755 : entry.type === 'link' ? 0o777 : 0o644), 100, 8);
  octal(entry.owner ?? 0, 108, 8);
  octal(entry.owner ?? 0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  header.write(TYPE_FLAGS[entry.type], 156);
  header.write(target, 157);
  header.write('ustar\u000000', 257);
  header.write(prefix, 345);
  header.fill(' ', 148, 156); // the checksum counts its own field as spaces
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** Splits a long path at the first folder after which the rest fits into the name field. */
function splitPath(path: string): [prefix: string, name: string] {
  if (Buffer.byteLength(path) <= MAX_NAME_BYTES) return ['', path];
  for (let at = path.indexOf('/'); at !== -1 && at < path.length - 1; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(name) <= MAX_NAME_BYTES && Buffer.byteLength(prefix) <= MAX_PREFIX_BYTES)
      return [prefix, name];
  }
  throw tooLong(path);
}

function tooLong(name: string): Error {
  return new Error(`a name is too long for an archive: ${name}`);
}
