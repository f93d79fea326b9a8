import { sandboxErrors } from '../../errors.ts';
import type { PieceReader } from './archive-codec.ts';

const MAX_HEADER_BYTES = 4 * 1024 * 1024;
const LENGTH_BYTES = 4;

/** What the content of an archive begins with: a JSON object after its length. */
export function writeHeader(content: object): Buffer {
  const text = Buffer.from(JSON.stringify(content));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, text]);
}

/** Throws ARCHIVE_DAMAGED if it is longer than any header. */
export async function readHeader(reader: PieceReader): Promise<unknown> {
  const lengthBytes = (await reader.exactly(LENGTH_BYTES)).readUInt32BE();
  if (lengthBytes > MAX_HEADER_BYTES) throw sandboxErrors.ARCHIVE_DAMAGED();
  return JSON.parse((await reader.exactly(lengthBytes)).toString('utf8'));
}
