import { describe, expect, it } from 'vitest';
import { AppError } from './app-error.ts';
import { defineErrors } from './catalogue.ts';

const errors = defineErrors({
  BUCKET_TAKEN: [409, 'Bucket {name} is taken'],
  TOO_MANY: [429, 'Limit of {limit} reached: {names}'],
});

describe('defineErrors', () => {
  it('gives each entry a factory whose error carries code, status and filled message', () => {
    const error = errors.BUCKET_TAKEN({ details: { name: 'photos' } });
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code: 'BUCKET_TAKEN', status: 409, message: 'Bucket photos is taken' });
    expect(error.details).toEqual({ name: 'photos' });
  });

  it('keeps the entries, so that documentation is made from them', () => {
    expect(errors.entries.BUCKET_TAKEN).toEqual([409, 'Bucket {name} is taken']);
  });

  it('fills numbers, booleans, lists and objects readably', () => {
    expect(errors.TOO_MANY({ details: { limit: 3, names: ['a', 'b'] } }).message).toBe('Limit of 3 reached: a, b');
    expect(errors.TOO_MANY({ details: { limit: 0, names: { a: true } } }).message).toBe(
      'Limit of 0 reached: {"a":true}',
    );
    expect(errors.TOO_MANY({ details: { limit: 2n ** 60n, names: null } }).message).toBe(
      'Limit of 1152921504606846976 reached: null',
    );
  });

  it('leaves the placeholder of a detail that is not given', () => {
    expect(errors.BUCKET_TAKEN().message).toBe('Bucket {name} is taken');
  });

  it('never fills from the prototype of the details', () => {
    const inherited = defineErrors({ ODD: [400, 'x {constructor} {toString}'] });
    expect(inherited.ODD({ details: {} }).message).toBe('x {constructor} {toString}');
  });

  it('fills each value once and never reads a template out of a value', () => {
    expect(errors.TOO_MANY({ details: { limit: '{names}', names: '$&' } }).message).toBe(
      'Limit of {names} reached: $&',
    );
  });

  it('cuts a value that a caller made very long', () => {
    const { message } = errors.BUCKET_TAKEN({ details: { name: 'x'.repeat(100_000) } });
    expect(message.length).toBeLessThan(400);
  });

  it('passes cause, headers and retryable on', () => {
    const cause = new Error('disk');
    const error = errors.BUCKET_TAKEN({ cause, headers: { 'retry-after': '3' }, retryable: true });
    expect(error.cause).toBe(cause);
    expect(error.headers).toEqual({ 'retry-after': '3' });
    expect(error.retryable).toBe(true);
  });

  it('refuses a status that is no error', () => {
    expect(() => defineErrors({ FINE: [200, 'fine'] })).toThrow('FINE: 200 is no error status');
  });
});
