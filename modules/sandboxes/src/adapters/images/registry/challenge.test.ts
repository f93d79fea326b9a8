import { describe, expect, it } from 'vitest';
import { parseChallenge } from './challenge.ts';

describe('parseChallenge', () => {
  it('reads the parameters of a Bearer challenge', () => {
    const header = 'Bearer realm="https://auth.example/token",service="registry",scope="repository:a/b:pull,push"';
    expect(parseChallenge(header)).toEqual({
      scheme: 'bearer',
      realm: 'https://auth.example/token',
      service: 'registry',
      scope: 'repository:a/b:pull,push',
    });
  });

  it('takes bare values, escapes and names of any case', () => {
    expect(parseChallenge('bearer Realm=https://a.example/t, SERVICE="with \\"quotes\\""')).toMatchObject({
      realm: 'https://a.example/t',
      service: 'with "quotes"',
      scope: null,
    });
  });

  it('prefers Bearer where both are offered, and takes Basic alone', () => {
    expect(parseChallenge('Basic realm="x", Bearer realm="https://a.example/t"')).toMatchObject({ scheme: 'bearer' });
    expect(parseChallenge('Basic realm="Registry Realm"')).toEqual({ scheme: 'basic' });
  });

  it.each(['', 'Negotiate', 'Bearer', 'Bearer service="x"', `Basic ${'x'.repeat(9000)}`])(
    'knows nothing of %j',
    (text) => {
      expect(parseChallenge(text)).toBeNull();
    },
  );
});
