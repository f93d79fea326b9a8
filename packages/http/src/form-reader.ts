import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';

/** A file in a form, as a stream. */
export interface FormFile {
  /** Name of the form field. */
  field: string;
  /** File name sent by the client; never a path, unless the form keeps paths. */
  name: string;
  contentType: string;
  content: Readable;
}

/** Receives the fields and files of a form. */
export interface FormReader {
  field(name: string, value: string): void;
  /** Receives one file at a time, in order; the next file is read after this promise settles. */
  file(file: FormFile): Promise<void>;
}

/** Limits and errors of a form. */
export interface FormOptions {
  /** Creates the error for an invalid field (or `body`, `content-type`). */
  malformed(field: string, reason: string, cause?: unknown): Error;
  /** Creates the error for a truncated body. */
  incomplete(cause?: unknown): Error;
  maxFiles?: number;
  maxFields?: number;
  maxFieldBytes?: number;
  /** Whether a file name may be a path, which the caller must check. */
  keepsPaths?: boolean;
}

/**
 * Streams a `multipart/form-data` body (RFC 7578): fields first, then each file. Throws the reader's errors or those
 * that the caller creates, after releasing everything in progress. Returns the number of files.
 */
export async function readForm(request: IncomingMessage, reader: FormReader, options: FormOptions): Promise<number> {
  const parser = createParser(request, options);
  const reading = new Reading(reader, options);
  const parsed = new Promise<void>((resolve, reject) => {
    reading.listen(parser, reject);
    parser.on('finish', resolve);
    parser.on('error', (error) => reject(options.malformed('body', 'is not a whole form', error)));
    request.once('close', () => request.complete || reject(options.incomplete()));
    request.pipe(parser);
  });
  try {
    await parsed;
    await reading.done();
  } catch (error) {
    // A pipeline would destroy the connection, which the refusal still needs.
    request.unpipe(parser);
    request.pause();
    await reading.cancel(options.incomplete(error));
    parser.destroy();
    throw error;
  }
  return reading.files;
}

class Reading {
  readonly #reader: FormReader;
  readonly #options: FormOptions;
  readonly #open = new Set<Readable>();
  #tail: Promise<void> = Promise.resolve();
  files = 0;

  constructor(reader: FormReader, options: FormOptions) {
    this.#reader = reader;
    this.#options = options;
  }

  listen(parser: BusboyInstance, reject: (error: Error) => void): void {
    const { malformed, incomplete, maxFiles = 20, maxFields = 32 } = this.#options;
    const attempt = (work: () => void): void => {
      try {
        work();
      } catch (error) {
        reject(error instanceof Error ? error : incomplete(error));
      }
    };
    parser.on('field', (name, value, nameTruncated, valueTruncated) =>
      attempt(() => {
        if (nameTruncated || valueTruncated) throw malformed(name.slice(0, 100), 'is too long');
        if (this.files > 0) throw malformed(name, 'stands behind a file; fields must come first');
        this.#reader.field(name, value);
      }),
    );
    parser.on('file', (field, content, name, _encoding, contentType) => {
      this.files += 1;
      this.#open.add(content);
      content.on('error', () => undefined); // the reader of the file gets the error
      this.#tail = this.#tail.then(async () => {
        await this.#reader.file({ field, name: name ?? '', contentType, content });
        this.#open.delete(content);
      });
      this.#tail.catch(reject);
    });
    for (const event of ['filesLimit', 'fieldsLimit', 'partsLimit'] as const) {
      parser.on(event, () => reject(malformed('file', `at most ${maxFiles} files and ${maxFields} fields`)));
    }
  }

  done(): Promise<void> {
    return this.#tail;
  }

  async cancel(reason: Error): Promise<void> {
    for (const content of this.#open) content.destroy(reason);
    await this.#tail.catch(() => undefined); // the original error is rethrown
  }
}

function createParser(request: IncomingMessage, options: FormOptions): BusboyInstance {
  const { malformed, maxFiles = 20, maxFields = 32, maxFieldBytes = 64 * 1024 } = options;
  const contentType = request.headers['content-type'] ?? '';
  if (!/^multipart\/form-data\s*;.*boundary=/i.test(contentType)) {
    throw malformed('content-type', 'must be multipart/form-data with a boundary');
  }
  try {
    return new Busboy({
      headers: { ...request.headers, 'content-type': contentType },
      preservePath: options.keepsPaths ?? false,
      limits: { files: maxFiles, fields: maxFields, fieldSize: maxFieldBytes, headerSize: 16 * 1024 },
    });
  } catch (error) {
    throw malformed('content-type', 'has no boundary that can be used', error);
  }
}
