import { ProtocolViolation } from '../helper/frames.ts';

export type FileType = 'file' | 'dir' | 'symlink' | 'other';

/** A file as the helper reports it. */
export interface FileEntry {
  readonly name: string;
  /** Raw bytes of the name if it is not UTF-8 and `name` is only an approximation. */
  readonly nameBase64: string | null;
  readonly sizeBytes: number;
  /** Mode as `stat` returns it, including the file type. */
  readonly mode: number;
  /** RFC 3339, UTC, nanoseconds. */
  readonly modifiedAt: string;
  /** Last access and last change of the attributes, in the same form; equal to `modifiedAt` if they are not known. */
  readonly accessedAt: string;
  readonly changedAt: string;
  readonly type: FileType;
  readonly linkTarget: string | null;
  readonly uid: number;
  readonly gid: number;
  readonly inode: number;
  /** Extended attributes by name, as far as the caller asked for them. */
  readonly attributes: Readonly<Record<string, string>>;
}

const TYPES: ReadonlySet<string> = new Set(['file', 'dir', 'symlink', 'other']);
const MAX_ATTRIBUTES = 1024;
const MAX_ATTRIBUTE_CHARACTERS = 4096;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/;

/** Throws `ProtocolViolation` for an entry that our helper would never send. */
export function parseEntry(value: unknown): FileEntry {
  const entry = record(value);
  const type = text(entry, 'type', 16);
  if (!TYPES.has(type)) throw new ProtocolViolation('an entry has an unknown type');
  // A file system can hold times outside the calendar.
  const modified = text(entry, 'mod_time', 64);
  const modifiedAt = isTime(modified) ? modified : '1970-01-01T00:00:00.000000000Z';
  const target = entry['link_target'] ?? null;
  const raw = entry['name_b64'];
  return {
    name: text(entry, 'name', 4096),
    nameBase64: raw === undefined ? null : text(entry, 'name_b64', 8192),
    sizeBytes: count(entry, 'size'),
    mode: count(entry, 'mode'),
    modifiedAt,
    accessedAt: timeOr(entry['access_time'], modifiedAt),
    changedAt: timeOr(entry['change_time'], modifiedAt),
    type: type as FileType, // one of the four
    linkTarget: target === null ? null : text(entry, 'link_target', 8192),
    uid: count(entry, 'uid'),
    gid: count(entry, 'gid'),
    inode: parseInode(entry['inode']),
    attributes: parseAttributes(entry['attributes']),
  };
}

function isTime(text: string): boolean {
  return TIME.test(text) && !Number.isNaN(Date.parse(text));
}

function timeOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value.length <= 64 && isTime(value) ? value : otherwise;
}

/** Some file systems use inode numbers beyond JSON's exact range; the rounded number is precise enough. */
function parseInode(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : 0;
}

/** The helper gives at most 4 KiB of them. */
function parseAttributes(value: unknown): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  const given = Object.entries(record(value)).slice(0, MAX_ATTRIBUTES);
  return Object.fromEntries(given.map(([name, content]) => [name, String(content).slice(0, MAX_ATTRIBUTE_CHARACTERS)]));
}

export function record(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ProtocolViolation('an answer is not an object');
  }
  return value as Record<string, unknown>; // an object that is neither null nor an array
}

function text(entry: Readonly<Record<string, unknown>>, name: string, mostChars: number): string {
  const value = entry[name];
  if (typeof value !== 'string' || value.length > mostChars) throw new ProtocolViolation(`${name} is not a text`);
  return value;
}

export function count(entry: Readonly<Record<string, unknown>>, name: string): number {
  const value = entry[name];
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new ProtocolViolation(`${name} is not a whole number`);
  }
  return value;
}

const KINDS: readonly (readonly [mask: number, letter: string])[] = [
  [0o040000, 'd'],
  [0o120000, 'l'],
  [0o060000, 'b'],
  [0o020000, 'c'],
  [0o010000, 'p'],
  [0o140000, 's'],
];

/** Formats a mode like `ls -l`, such as `-rw-r--r--`. */
export function modeText(mode: number): string {
  const kind = KINDS.find(([mask]) => (mode & 0o170000) === mask)?.[1] ?? '-';
  const special = [mode & 0o4000, mode & 0o2000, mode & 0o1000];
  const triples = [6, 3, 0].map((shift, index) => {
    const bits = (mode >> shift) & 7;
    const execute = (bits & 1) !== 0;
    const letter = index === 2 ? 't' : 's';
    const last = special[index] === 0 ? (execute ? 'x' : '-') : execute ? letter : letter.toUpperCase();
    return `${(bits & 4) === 0 ? '-' : 'r'}${(bits & 2) === 0 ? '-' : 'w'}${last}`;
  });
  return `${kind}${triples.join('')}`;
}

/** Formats permission bits in octal, such as `0644`. */
export function modeOctal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}

/** Weak, because two writes within the clock's resolution could share it. */
export function entityTag({ inode, sizeBytes, modifiedAt }: FileEntry): string {
  return `W/"${BigInt(inode).toString(36)}-${sizeBytes.toString(36)}-${modifiedAt.replace(/\D/g, '')}"`;
}

/** Truncates to milliseconds, which our HTTP and JSON clients expect. */
export function modifiedMs({ modifiedAt }: FileEntry): string {
  return `${modifiedAt.slice(0, 23)}Z`;
}
