import { describe, expect, it } from 'vitest';
import { AppError, isAppError, toAppError } from './app-error.ts';

describe('AppError', () => {
  it('is retryable by default when the status says come back later', () => {
    const retryable = (status: number) => new AppError({ code: 'X', status, message: 'x' }).retryable;
    expect([400, 404, 409, 500].map(retryable)).toEqual([false, false, false, false]);
    expect([429, 503].map(retryable)).toEqual([true, true]);
  });

  it('lets the thrower overrule what the status says about a retry', () => {
    expect(new AppError({ code: 'X', status: 503, message: 'x', retryable: false }).retryable).toBe(false);
    expect(new AppError({ code: 'X', status: 409, message: 'x', retryable: true }).retryable).toBe(true);
  });

  it('has no cause at all when none is given', () => {
    expect('cause' in new AppError({ code: 'X', status: 400, message: 'x' })).toBe(false);
  });

  it('is an Error with a stack, so that a log shows where it was thrown', () => {
    const error = new AppError({ code: 'X', status: 400, message: 'why' });
    expect(error).toBeInstanceOf(Error);
    expect(error.stack).toContain('why');
  });
});

describe('toAppError', () => {
  it('leaves an AppError as it is', () => {
    const error = new AppError({ code: 'X', status: 400, message: 'x' });
    expect(toAppError(error)).toBe(error);
  });

  it('answers anything else as internal_error, with the original only as its cause', () => {
    const original = new Error('password=hunter2 refused by 10.0.0.3');
    const error = toAppError(original);
    expect(error).toMatchObject({ code: 'internal_error', status: 500, message: 'Internal error', details: {} });
    expect(error.cause).toBe(original);
  });

  it('takes thrown values that are no errors', () => {
    for (const thrown of ['text', 42, null, { odd: true }]) expect(isAppError(toAppError(thrown))).toBe(true);
    expect(toAppError(undefined)).toMatchObject({ status: 500 });
  });
});
