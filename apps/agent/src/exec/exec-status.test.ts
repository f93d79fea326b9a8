import { describe, expect, it } from 'vitest';
import { readExecEnd } from './exec-status.ts';

describe('the last word of an exec', () => {
  it('is exit code 0 for a success', () => {
    expect(readExecEnd('{"status":"Success"}')).toEqual({ kind: 'exited', exitCode: 0 });
  });

  it('is the exit code of the process', () => {
    const status = {
      status: 'Failure',
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: '137' }] },
    };
    expect(readExecEnd(JSON.stringify(status))).toEqual({ kind: 'exited', exitCode: 137 });
  });

  it.each([
    ['exec: "nope": executable file not found in $PATH: unknown', 'INVALID_REQUEST'],
    ['container not running', 'KUBERNETES_ERROR'],
  ])('is a refusal when nothing ran: %s', (message, code) => {
    const status = JSON.stringify({ status: 'Failure', reason: 'InternalError', message });
    expect(readExecEnd(status)).toMatchObject({ kind: 'not_started', error: { code, message } });
  });

  it('is unknown when the connection broke, and a refusal when it is no status', () => {
    expect(readExecEnd(null)).toEqual({ kind: 'unknown' });
    expect(readExecEnd('oops')).toMatchObject({ kind: 'not_started', error: { code: 'KUBERNETES_ERROR' } });
  });
});
