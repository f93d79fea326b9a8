import { describeFuzz, orRefusal } from '@svc/testing';
import { expect } from 'vitest';
import { RequestHeaders } from '../request-headers.ts';
import type { S3Request } from '../s3-request.ts';
import { MAX_FIELDS_BYTES } from './form-reader.ts';
import { toPutRequest, withFileName } from './form-request.ts';

const request = { headers: new RequestHeaders(['Host', 'a.test', 'Cookie', 'c']) } as S3Request; // nothing else is read
/** What a form of the largest size can expand to: half of it names, half of it `${filename}`. */
const MOST_CHARACTERS = (MAX_FIELDS_BYTES / 2) ** 2 / '${filename}'.length + MAX_FIELDS_BYTES;
/** Headers of a PUT that a form may set. */
const ALLOWED = /^(?:x-amz-[^]*|cache-control|content-(?:disposition|encoding|language|md5|type|length)|expires|host)$/;

describeFuzz({
  name: 'forms as requests',
  corpus: new URL('./corpus/form-request/', import.meta.url),
  seeds: [
    'f.txt\nkey=photos/${filename}\nacl=private\nx-amz-meta-a=b\npolicy=x\nx-amz-signature=y',
    `${"$'".repeat(400)}\nkey=\${filename}\nx-amz-meta-a=${'${filename}'.repeat(300)}`,
    '$&$$$1\nkey=${filename}${filename}',
    'f\nkey=a\nconstructor=b\n__proto__=c\ntoString=d\nhasOwnProperty=e',
    'f\nkey=\u00e9\nContent-Type=text/html\ncookie=x\nhost=b\nauthorization=c\nx-amz-\u0130=d',
  ],
  dictionary: [
    '${filename}',
    '$&',
    "$'",
    '$`',
    '$$',
    '=',
    '\n',
    'key=',
    'x-amz-',
    'constructor',
    'valueOf',
    '__proto__',
    'host',
    'expires',
  ],
  run: (input) => {
    const [fileName = '', ...lines] = input.toString('utf8').split('\n');
    const fields = new Map(
      lines.map((line): [string, string] => [line.split('=', 1)[0] ?? '', line.slice(line.indexOf('=') + 1)]),
    );
    const filled = withFileName({ fields, fileName });
    for (const [name, value] of filled) {
      expect(value).toBe(fields.get(name)?.split('${filename}').join(fileName));
      expect(value.length).toBeLessThanOrEqual(MOST_CHARACTERS);
    }
    const put = orRefusal(() => toPutRequest(request, filled, 7));
    if (put === null) return;
    expect(put.key).toBe(filled.get('key'));
    expect(put.headers.all('content-length')[0]).toBe('7');
    expect(put.headers.all('host')[0]).toBe('a.test');
    for (const name of put.headers.names()) {
      expect(name).toMatch(ALLOWED);
      for (const value of put.headers.all(name)) expect(value).toMatch(/^[^\r\n\0]*$/);
    }
  },
});
