import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';

export interface FormFile {
  /** Of the form's field. */
  field: string;
  /** As the client named it; never a path. */
  name: string;
  contentType: string;
  content: Readable;
}

export interface FormReader {
  field(name: string, value: string): void;
  /** One at a time, in order; the next is read when this one is done. */
  file(file: FormFile): Promise<void>;
}

export interface FormOptions {
  /** The error for what is wrong with a field (or `body`, `content-type`). */
  malformed(field: string, reason: string, cause?: unknown): Error;
  /** The error for a body that ended early. */
  incomplete(cause?: unknown): Error;
  maxFiles?: number;
  maxFields?: number;
  maxFieldBytes?: number;
}

/**
 * Reads a `multipart/form-data` body (RFC 7578) as it comes: fields first, then files, each streamed. Throws what the
 * reader threw, or the caller's errors; what was begun is let go of before. Answers how many files there were.
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
    // Not a pipeline: that would end the connection on which the refusal is to be answered.
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
      content.on('error', () => undefined); // whoever reads it hears of it
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
    await this.#tail.catch(() => undefined); // it is the error that is being thrown
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
      preservePath: false,
      limits: { files: maxFiles, fields: maxFields, fieldSize: maxFieldBytes, headerSize: 16 * 1024 },
    });
  } catch (error) {
    throw malformed('content-type', 'has no boundary that can be used', error);
  }
}
