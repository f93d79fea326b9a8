import type { FileHandle } from 'node:fs/promises';

/** Position of a file's content in an archive. */
export interface ArchivedFile {
  offset: number;
  sizeBytes: number;
}

const BLOCK_BYTES = 512;
const MAX_ENTRIES = 256;

/**
 * Maps paths to the files of a tar archive (POSIX.1-1988 ustar). Reads only the headers and unpacks nothing. Supports
 * archives written by `svc agent image` and other image tools, which have short names and few entries.
 */
export async function readArchiveIndex(archive: FileHandle): Promise<Map<string, ArchivedFile>> {
  const { size } = await archive.stat();
  const files = new Map<string, ArchivedFile>();
  const header = Buffer.alloc(BLOCK_BYTES);
  let at = 0;
  for (let entries = 0; entries < MAX_ENTRIES; entries += 1) {
    const { bytesRead } = await archive.read(header, 0, BLOCK_BYTES, at);
    if (bytesRead < BLOCK_BYTES) throw new Error('the archive has no end');
    if (header.every((byte) => byte === 0)) return files;
    const sizeBytes = checkedSize(header);
    const offset = at + BLOCK_BYTES;
    at = offset + Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES;
    if (at > size) throw new Error('the archive is cut off');
    const type = header.toString('latin1', 156, 157);
    if (type === '0' || type === '\0') files.set(textAt(header, 0, 100), { offset, sizeBytes });
  }
  throw new Error(`the archive has more than ${MAX_ENTRIES} entries`);
}

/** Verifies the header checksum and returns the size. */
function checkedSize(header: Buffer): number {
  const sum = Number.parseInt(textAt(header, 148, 8), 8);
  const spaces = 8 * 0x20;
  const actual = header.reduce((total, byte, at) => (at >= 148 && at < 156 ? total : total + byte), spaces);
  const size = Number.parseInt(textAt(header, 124, 12), 8);
  if (sum !== actual || !Number.isSafeInteger(size) || size < 0) throw new Error('it is not a tar archive');
  return size;
}

function textAt(header: Buffer, at: number, length: number): string {
  return (
    header
      .toString('utf8', at, at + length)
      .split('\0', 1)[0]
      ?.trim() ?? ''
  );
}
