import { describe, expect, it } from 'vitest';
import { parseChallenge } from './challenge.ts';

describe('parseChallenge', () => {
  it('parses the parameters of a Bearer challenge', () => {
    const header = 'Bearer realm="https://auth.example/token",service="registry",scope="repository:a/b:pull,push"';
    expect(parseChallenge(header)).toEqual({
      scheme: 'bearer',
      realm: 'https://auth.example/token',
      service: 'registry',
      scope: 'repository:a/b:pull,push',
    });
  });

  it('accepts unquoted values, escapes and names in any case', () => {
    expect(parseChallenge('bearer Realm=https://a.example/t, SERVICE="with \\"quotes\\""')).toMatchObject({
      realm: 'https://a.example/t',
      service: 'with "quotes"',
      scope: null,
    });
  });

  it('prefers Bearer over Basic, and accepts Basic alone', () => {
    expect(parseChallenge('Basic realm="x", Bearer realm="https://a.example/t"')).toMatchObject({ scheme: 'bearer' });
    expect(parseChallenge('Basic realm="Registry Realm"')).toEqual({ scheme: 'basic' });
  });

  it.each(['', 'Negotiate', 'Bearer', 'Bearer service="x"', `Basic ${'x'.repeat(9000)}`])(
    'returns nothing for %j',
    (text) => {
      expect(parseChallenge(text)).toBeNull();
    },
  );

  it('takes no quadratic time for a long name', () => {
    const header = `Bearer ${'A'.repeat(8_000)}`;
    for (let count = 0; count < 10_000; count += 1) expect(parseChallenge(header)).toBeNull();
  });
});
