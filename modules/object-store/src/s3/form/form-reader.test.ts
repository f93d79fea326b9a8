import { describe, expect, it } from 'vitest';
import { FormReader } from './form-reader.ts';

const BOUNDARY = '----boundary';

const part = (name: string, content: string, more = ''): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${content}\r\n`;
const END = `--${BOUNDARY}--\r\n`;

/** The body, split into pieces of the given sizes. */
async function* pieces(body: Buffer, sizes: () => number): AsyncGenerator<Buffer> {
  for (let start = 0; start < body.length;) {
    const end = Math.min(body.length, start + Math.max(1, sizes()));
    yield body.subarray(start, end);
    start = end;
  }
}

async function read(body: string | Buffer, sizes: () => number = () => 1_000) {
  const form = new FormReader(pieces(Buffer.from(body), sizes), BOUNDARY);
  const { fields, fileName } = await form.fields();
  const { position } = form;
  const chunks: Buffer[] = [];
  for await (const chunk of form.file()) chunks.push(Buffer.from(chunk));
  return { fields: Object.fromEntries(fields), fileName, position, file: Buffer.concat(chunks) };
}

/** Deterministic pseudorandom numbers. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state;
  };
}

describe('FormReader', () => {
  it('reads the fields, then the file, and ignores what follows', async () => {
    const body =
      part('Key', 'a/${filename}') +
      part('acl', '') +
      part('file', 'hello', '; filename="C:\\x\\y.txt"') +
      part('late', 'x') +
      END;
    const { position, ...found } = await read(body);
    expect(found).toEqual({ fields: { key: 'a/${filename}', acl: '' }, fileName: 'y.txt', file: Buffer.from('hello') });
    expect(body.slice(position, position + 5)).toBe('hello');
  });

  it('accepts a preamble, and fields that look like files', async () => {
    const body = `preamble\r\n${part('key', 'k', '; filename="key"')}${part('file', '')}${END}`;
    expect(await read(body)).toMatchObject({ fields: { key: 'k' }, file: Buffer.alloc(0) });
  });

  it('reads the same for any split of the body', async () => {
    const next = numbers(7);
    for (let round = 0; round < 200; round += 1) {
      // Favors bytes that occur in delimiters.
      const alphabet = `\r\n--${BOUNDARY}xy`;
      const file = Array.from({ length: next() % 300 }, () => alphabet[next() % alphabet.length]).join('');
      const content = file.replaceAll(`\r\n--${BOUNDARY}`, 'gone');
      const body = part('key', 'k') + part('file', content) + END;
      const found = await read(body, () => next() % 7);
      expect(found.file.toString()).toBe(content);
      expect(found.fields).toEqual({ key: 'k' });
    }
  });

  it.each<[string, string, string]>([
    ['without a file', part('key', 'k') + END, 'InvalidArgument'],
    ['that is empty', END, 'InvalidArgument'],
    ['with nothing in it', '', 'IncompleteBody'],
    ['that is cut in a field', part('key', 'k').slice(0, -5), 'IncompleteBody'],
    ['that is cut in the file', part('key', 'k') + part('file', 'hello').slice(0, -2), 'IncompleteBody'],
    ['with a field twice', part('key', 'a') + part('KEY', 'b') + part('file', '') + END, 'MalformedPOSTRequest'],
    [
      'with a part that has no name',
      `--${BOUNDARY}\r\nContent-Disposition: form-data\r\n\r\nx\r\n${END}`,
      'MalformedPOSTRequest',
    ],
    ['with a part that says nothing', `--${BOUNDARY}\r\n\r\n\r\nx\r\n${END}`, 'MalformedPOSTRequest'],
    ['with words behind a delimiter', `--${BOUNDARY} x\r\n\r\n${END}`, 'MalformedPOSTRequest'],
    [
      'with too much before the file',
      part('key', 'k'.repeat(21 * 1_024)) + part('file', '') + END,
      'MaxPostPreDataLengthExceeded',
    ],
    [
      'of fields only, without end',
      part('a', 'b').repeat(2).replace('"a"', '"c"') + part('d', 'x'.repeat(30_000)),
      'MaxPostPreDataLengthExceeded',
    ],
  ])('rejects %s', async (_, body, code) => {
    await expect(read(body, () => 5)).rejects.toMatchObject({ code });
    await expect(read(body, () => 100_000)).rejects.toMatchObject({ code });
  });

  it('rejects random bytes without hanging', async () => {
    const next = numbers(11);
    const alphabet = [
      `--${BOUNDARY}`,
      '\r\n',
      '--',
      'Content-Disposition: form-data; name="file"',
      'a',
      '"',
      ';',
      '\0',
    ];
    for (let round = 0; round < 300; round += 1) {
      const body = Array.from({ length: next() % 20 }, () => alphabet[next() % alphabet.length]).join('');
      await read(body, () => next() % 9).catch((error: unknown) => {
        expect(error).toMatchObject({ status: 400 });
      });
    }
  });
});
