import { describe, expect, it } from 'vitest';
import { safeNext } from './safe-next.ts';

describe('the target after sign-in', () => {
  it.each(['/w/1/audit?action=token%3Acreate', '/account', '/'])('is the console’s path %s', (next) => {
    expect(safeNext(next)).toBe(next);
  });

  it.each([
    undefined,
    '',
    'https://evil.example/',
    '//evil.example/',
    String.raw`/\evil.example/`,
    '/\t/evil.example/',
    'javascript:alert(1)',
    'account',
  ])('is the home page for %j', (next) => {
    expect(safeNext(next)).toBe('/');
  });
});
