import { describe, expect, it } from 'vitest';
import { safeNext } from './safe-next.ts';

describe('where sign-in leads to', () => {
  it.each(['/w/1/audit?action=token%3Acreate', '/account', '/'])('keeps the own path %s', (next) => {
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
  ])('goes home for %j', (next) => {
    expect(safeNext(next)).toBe('/');
  });
});
