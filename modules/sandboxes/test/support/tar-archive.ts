/** An archive entry; omitted fields default to valid values. */
export interface TarEntry {
  readonly name: string;
  readonly type?: 'file' | 'link' | 'symlink' | 'character' | 'block' | 'folder' | 'fifo';
  readonly content?: string | Buffer;
  readonly target?: string;
  readonly mode?: number;
  readonly uid?: number;
  readonly gid?: number;
  readonly modifiedSeconds?: number;
  /** Extended attributes. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** Size claimed by the header, regardless of the content. */
  readonly claimedBytes?: number;
}

const BLOCK_BYTES = 512;
const TYPES = { file: '0', link: '1', symlink: '2', character: '3', block: '4', folder: '5', fifo: '6' } as const;

/**
 * Builds a tar archive byte by byte (POSIX ustar, with pax records for attributes), including archives that no tool
 * creates.
 */
export function tarArchive(entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap(entryBlocks);
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK_BYTES)]);
}

function entryBlocks(entry: TarEntry): Buffer[] {
  const content = Buffer.from(entry.content ?? '');
  const records = Object.entries(entry.attributes ?? {}).map(([name, value]) =>
    paxRecord(`SCHILY.xattr.${name}`, value),
  );
  const pax = Buffer.concat(records);
  const extended = pax.length === 0 ? [] : [header({ name: 'pax' }, 'x', pax.length), padded(pax)];
  const size = entry.claimedBytes ?? content.length;
  return [...extended, header(entry, TYPES[entry.type ?? 'file'], size), padded(content)];
}

function header(entry: TarEntry, type: string, sizeBytes: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, at: number, width: number): void => {
    block.write(`${value.toString(8).padStart(width - 1, '0')}\0`, at, 'latin1');
  };
  block.write(entry.name, 0, 100, 'utf8');
  octal(entry.mode ?? (entry.type === 'folder' ? 0o755 : 0o644), 100, 8);
  octal(entry.uid ?? 0, 108, 8);
  octal(entry.gid ?? 0, 116, 8);
  octal(sizeBytes, 124, 12);
  octal(entry.modifiedSeconds ?? 1_700_000_000, 136, 12);
  block.write('        ', 148, 'latin1');
  block.write(type, 156, 'latin1');
  block.write(entry.target ?? '', 157, 100, 'utf8');
  block.write('ustar\u000000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

/** A record begins with its own length (POSIX pax, section 4.4). */
function paxRecord(key: string, value: string): Buffer {
  const rest = Buffer.from(` ${key}=${value}\n`, 'latin1');
  let length = rest.length;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

function padded(content: Buffer): Buffer {
  const rest = content.length % BLOCK_BYTES;
  return rest === 0 ? content : Buffer.concat([content, Buffer.alloc(BLOCK_BYTES - rest)]);
}
