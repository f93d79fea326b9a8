import { describe, expect, it } from 'vitest';
import { execEndOf } from './exec-end.ts';

describe('the end of an exec', () => {
  it('is exit code 0 for a success', () => {
    expect(execEndOf('{"status":"Success"}')).toEqual({ kind: 'exited', exitCode: 0 });
  });

  it('is the exit code of the process', () => {
    const status = {
      status: 'Failure',
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: '137' }] },
    };
    expect(execEndOf(JSON.stringify(status))).toEqual({ kind: 'exited', exitCode: 137 });
  });

  it.each([
    ['exec: "nope": executable file not found in $PATH: unknown', 'INVALID_REQUEST'],
    ['container not running', 'KUBERNETES_ERROR'],
  ])('is a refusal if nothing ran: %s', (message, code) => {
    const status = JSON.stringify({ status: 'Failure', reason: 'InternalError', message });
    expect(execEndOf(status)).toMatchObject({ kind: 'not_started', error: { code, message } });
  });

  it('is unknown if the connection broke, and a refusal if there is no valid status', () => {
    expect(execEndOf(null)).toEqual({ kind: 'unknown' });
    expect(execEndOf('oops')).toMatchObject({ kind: 'not_started', error: { code: 'KUBERNETES_ERROR' } });
  });
});
