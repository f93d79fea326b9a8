import { storeErrors } from '../../errors.ts';
import { parsePartHead } from './part-head.ts';

/** AWS's limit on everything before the file. */
export const MAX_FIELDS_BYTES = 20 * 1024;
const MAX_FIELDS = 200;
const HEAD_END = Buffer.from('\r\n\r\n');

export interface FormFields {
  /** By lower-case name. A repeated name is an error. */
  fields: ReadonlyMap<string, string>;
  fileName: string;
}

/**
 * Reads a `multipart/form-data` body once, front to back: `fields()` up to the file, then `file()`. Holds only the
 * fields and the last chunk. Ignores everything after the file, as S3 documents.
 */
export class FormReader {
  readonly #source: AsyncIterator<Buffer>;
  /** Ends a part. The first delimiter has no line break before it, so `#rest` starts with one. */
  readonly #delimiter: Buffer;
  #rest: Buffer = Buffer.from('\r\n');
  #taken = -2;
  #ended = false;

  constructor(source: AsyncIterator<Buffer>, boundary: string) {
    this.#source = source;
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  /** Bytes of the body before the file, once `fields()` has returned. */
  get position(): number {
    return this.#taken;
  }

  /** Throws `MalformedPOSTRequest`, `MaxPostPreDataLengthExceeded`, or `InvalidArgument` for a form without a file. */
  async fields(): Promise<FormFields> {
    const fields = new Map<string, string>();
    await this.#takeThrough(this.#delimiter);
    for (;;) {
      if (await this.#isLast()) throw missingFile();
      const head = parsePartHead((await this.#takeThrough(HEAD_END)).toString('utf8'));
      const name = head.name.toLowerCase();
      if (name === 'file') return { fields, fileName: head.fileName ?? '' };
      if (fields.has(name) || fields.size === MAX_FIELDS) throw storeErrors.MalformedPOSTRequest();
      fields.set(name, (await this.#takeThrough(this.#delimiter)).toString('utf8'));
    }
  }

  /** The bytes of the file. Throws `IncompleteBody` if the body ends before the file does. */
  async *file(): AsyncGenerator<Buffer> {
    for (;;) {
      const at = this.#rest.indexOf(this.#delimiter);
      const safe = at === -1 ? Math.max(0, this.#rest.length - this.#delimiter.length + 1) : at;
      if (safe > 0) yield this.#rest.subarray(0, safe);
      this.#rest = this.#rest.subarray(safe);
      if (at !== -1) return;
      await this.#more();
    }
  }

  /** Reads up to `limitBytes` of the rest, so that the client can read its response. */
  async drain(limitBytes: number): Promise<void> {
    let left = limitBytes;
    while (!this.#ended && left > 0) {
      this.#rest = Buffer.alloc(0);
      await this.#next();
      left -= this.#rest.length;
    }
  }

  /** After a delimiter, `--` ends the form and a line break begins the next part. */
  async #isLast(): Promise<boolean> {
    while (this.#rest.length < 2) await this.#more();
    const mark = this.#rest.toString('latin1', 0, 2);
    if (mark === '--') return true;
    // RFC 2046 section 5.1.1 allows white space before the end of the line.
    const padding = await this.#takeThrough(Buffer.from('\r\n'));
    if (padding.toString('latin1').trim() !== '') throw storeErrors.MalformedPOSTRequest();
    return false;
  }

  /** Returns everything up to the mark, and consumes the mark. */
  async #takeThrough(mark: Buffer): Promise<Buffer> {
    let from = 0;
    for (;;) {
      const at = this.#rest.indexOf(mark, from);
      if (this.#taken + (at === -1 ? this.#rest.length : at) > MAX_FIELDS_BYTES) {
        throw storeErrors.MaxPostPreDataLengthExceeded();
      }
      if (at !== -1) {
        const piece = this.#rest.subarray(0, at);
        this.#rest = this.#rest.subarray(at + mark.length);
        this.#taken += at + mark.length;
        return piece;
      }
      from = Math.max(0, this.#rest.length - mark.length + 1);
      await this.#more();
    }
  }

  async #more(): Promise<void> {
    await this.#next();
    if (this.#ended) throw storeErrors.IncompleteBody();
  }

  async #next(): Promise<void> {
    const next = await this.#source.next();
    if (next.done === true) this.#ended = true;
    else this.#rest = this.#rest.length === 0 ? next.value : Buffer.concat([this.#rest, next.value]);
  }
}

function missingFile(): Error {
  const reason = 'POST requires exactly one file upload per request.';
  return storeErrors.InvalidArgument({ details: { reason, field: 'file' } });
}
