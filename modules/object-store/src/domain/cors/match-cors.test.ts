import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CorsRule } from '../settings/shared-documents.ts';
import { matchCors } from './match-cors.ts';

const rule = (changes: Partial<CorsRule>): CorsRule => ({
  allowedOrigins: ['*'],
  allowedMethods: ['GET'],
  allowedHeaders: [],
  exposeHeaders: [],
  maxAgeSeconds: null,
  ...changes,
});
const ask = (origin: string, method = 'GET', headers: string[] = []) => ({ origin, method, headers });

describe('matchCors', () => {
  it('returns the first rule that allows the whole request', () => {
    const rules = [
      rule({ allowedOrigins: ['https://a.example'], allowedMethods: ['PUT'] }),
      rule({ allowedOrigins: ['https://*.example'], allowedMethods: ['PUT', 'GET'], allowedHeaders: ['x-amz-*'] }),
    ];
    expect(matchCors(rules, ask('https://a.example', 'PUT'))?.rule).toBe(rules[0]);
    expect(matchCors(rules, ask('https://a.example', 'PUT', ['x-amz-date']))?.rule).toBe(rules[1]);
    expect(matchCors(rules, ask('https://a.example', 'PUT', ['x-amz-date', 'range']))).toBeNull();
    expect(matchCors(rules, ask('https://a.example', 'DELETE'))).toBeNull();
    expect(matchCors(rules, ask('http://a.example'))).toBeNull();
  });

  it('allows * for a star, and the requesting origin for a pattern', () => {
    expect(matchCors([rule({})], ask('https://x'))?.allowedOrigin).toBe('*');
    expect(matchCors([rule({ allowedOrigins: ['https://*'] })], ask('https://x'))?.allowedOrigin).toBe('https://x');
  });

  it('does not let the two ends of a pattern overlap', () => {
    expect(matchCors([rule({ allowedOrigins: ['ab*ba'] })], ask('aba'))).toBeNull();
  });

  it('matches stars like a regular expression', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 6 });
    fc.assert(
      fc.property(text, text, text, (before, after, origin) => {
        const escaped = [before, after].map((part) => part.replaceAll('.', '\\.')).join('.*');
        const expected = new RegExp(`^${escaped}$`).test(origin);
        expect(matchCors([rule({ allowedOrigins: [`${before}*${after}`] })], ask(origin)) !== null).toBe(expected);
      }),
    );
  });
});
