import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { storeErrors } from '../../errors.ts';

export interface FormFile {
  name: string;
  contentType: string;
  content: Readable;
}

export interface FormReader {
  field(name: string, value: string): void;
  /** One at a time, in order; the next is read when this one is done. */
  file(file: FormFile): Promise<void>;
}

const MOST_FILES = 20;
const MOST_FIELDS = 32;
const MOST_FIELD_BYTES = 64 * 1024;

/**
 * Reads a `multipart/form-data` body as it comes: fields first, then files. Throws what the reader threw, `InvalidRequest`
 * for a malformed form, `IncompleteBody` for one that ends early.
 */
export async function readForm(request: IncomingMessage, reader: FormReader): Promise<void> {
  const parser = createParser(request);
  const open = new Set<Readable>();
  let files = 0;
  let tail: Promise<void> = Promise.resolve();
  const parsed = new Promise<void>((resolve, reject) => {
    const attempt = (work: () => void): void => {
      try {
        work();
      } catch (error) {
        reject(error instanceof Error ? error : storeErrors.InternalError({ cause: error }));
      }
    };
    parser.on('field', (name, value, nameTruncated, valueTruncated) =>
      attempt(() => {
        if (nameTruncated || valueTruncated) throw malformed(name.slice(0, 100), 'is too long');
        if (files > 0) throw malformed(name, 'stands behind a file; fields must come first');
        reader.field(name, value);
      }),
    );
    parser.on('file', (field, content, name, _encoding, contentType) => {
      files += 1;
      open.add(content);
      content.on('error', () => undefined); // whoever reads it hears of it
      attempt(() => {
        if (field !== 'file') throw malformed(field.slice(0, 100), 'takes no file; files are named `file`');
        tail = tail.then(async () => {
          await reader.file({ name, contentType, content });
          open.delete(content);
        });
        tail.catch(reject);
      });
    });
    for (const event of ['filesLimit', 'fieldsLimit', 'partsLimit'] as const) {
      parser.on(event, () => reject(malformed('file', `at most ${MOST_FILES} files, ${MOST_FIELDS} fields`)));
    }
    parser.on('finish', resolve);
    parser.on('error', (error) => reject(malformed('body', 'is not a whole form', error)));
    request.once('close', () => request.complete || reject(storeErrors.IncompleteBody()));
    request.pipe(parser);
  });
  try {
    await parsed;
    await tail;
  } catch (error) {
    // Not a pipeline: that would end the connection on which the refusal is to be answered.
    request.unpipe(parser);
    request.pause();
    for (const content of open) content.destroy(storeErrors.IncompleteBody({ cause: error }));
    await tail.catch(() => undefined); // what was begun is let go of before the answer
    parser.destroy();
    throw error;
  }
  if (files === 0) throw malformed('file', 'is missing');
}

function createParser(request: IncomingMessage): BusboyInstance {
  const contentType = request.headers['content-type'] ?? '';
  if (!/^multipart\/form-data\s*;.*boundary=/i.test(contentType)) {
    throw malformed('content-type', 'must be multipart/form-data with a boundary');
  }
  try {
    return new Busboy({
      headers: { ...request.headers, 'content-type': contentType },
      preservePath: false,
      limits: { files: MOST_FILES, fields: MOST_FIELDS, fieldSize: MOST_FIELD_BYTES, headerSize: 16 * 1024 },
    });
  } catch (error) {
    throw malformed('content-type', 'has no boundary that can be used', error);
  }
}

export function malformed(field: string, reason: string, cause?: unknown): Error {
  return storeErrors.InvalidRequest({ details: { field, reason: `The field ${field} ${reason}` }, cause });
}
