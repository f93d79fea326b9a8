import { isAppError } from '@svc/errors';
import { describeFuzz } from '@svc/testing';
import { expect } from 'vitest';
import { FormReader, MAX_FIELDS_BYTES } from './form-reader.ts';

const BOUNDARY = 'b0undary';

interface ReadForm {
  fields: [string, string][];
  fileName: string;
  file: string;
  position: number;
}

async function read(pieces: readonly Buffer[]): Promise<ReadForm | string> {
  const source = pieces.values();
  const reader = new FormReader({ next: async () => source.next() }, BOUNDARY);
  try {
    const { fields, fileName } = await reader.fields();
    const { position } = reader;
    const file: Buffer[] = [];
    for await (const chunk of reader.file()) file.push(chunk);
    return { fields: [...fields], fileName, file: Buffer.concat(file).toString('hex'), position };
  } catch (error) {
    if (isAppError(error) && error.status < 500) return error.code;
    throw error;
  }
}

function form(...parts: readonly string[]): string {
  return [...parts.map((part) => `--${BOUNDARY}\r\n${part}\r\n`), `--${BOUNDARY}--\r\n`].join('');
}

const key = 'Content-Disposition: form-data; name="key"\r\n\r\nphotos/${filename}';
const file = 'Content-Disposition: form-data; name="file"; filename="a b.txt"\r\nContent-Type: text/plain\r\n\r\nhello';

describeFuzz({
  name: 'the reader of upload forms',
  corpus: new URL('./corpus/form-reader/', import.meta.url),
  seeds: [form(key, file), form(file), form(key, `${file}\r\n--${BOUNDARY}x`), form(key), `--${BOUNDARY}--`],
  dictionary: [
    `\r\n--${BOUNDARY}`,
    `--${BOUNDARY}--`,
    '\r\n\r\n',
    '\r\n',
    'Content-Disposition: form-data; ',
    'name=',
    'name="file"',
    'filename=',
    '"',
    '\\"',
    '%22',
    ';',
  ],
  run: async (input) => {
    const whole = await read([input]);
    const cut = Math.floor(input.length / 2);
    expect(await read([input.subarray(0, cut), input.subarray(cut)])).toEqual(whole);
    expect(await read(Array.from({ length: input.length }, (_, at) => input.subarray(at, at + 1)))).toEqual(whole);
    if (typeof whole === 'string') return;
    expect(whole.position).toBeLessThanOrEqual(MAX_FIELDS_BYTES + BOUNDARY.length + 4);
    const bytes = Buffer.from(whole.file, 'hex');
    expect(bytes.includes(`\r\n--${BOUNDARY}`)).toBe(false);
    // The file's bytes are exactly those of the body at the reported position.
    expect(input.subarray(whole.position, whole.position + bytes.length).equals(bytes)).toBe(true);
  },
});
