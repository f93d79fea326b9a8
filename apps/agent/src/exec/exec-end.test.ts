import { describe, expect, it } from 'vitest';
import { parseExecEnd } from './exec-end.ts';

describe('the end of an exec', () => {
  it('is exit code 0 for a success', () => {
    expect(parseExecEnd('{"status":"Success"}')).toEqual({ kind: 'exited', exitCode: 0 });
  });

  it('is the exit code of the process', () => {
    const status = {
      status: 'Failure',
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: '137' }] },
    };
    expect(parseExecEnd(JSON.stringify(status))).toEqual({ kind: 'exited', exitCode: 137 });
  });

  it.each([
    ['exec: "nope": executable file not found in $PATH: unknown', 'INVALID_REQUEST'],
    ['container not running', 'KUBERNETES_ERROR'],
  ])('is a refusal if nothing ran: %s', (message, code) => {
    const status = JSON.stringify({ status: 'Failure', reason: 'InternalError', message });
    expect(parseExecEnd(status)).toMatchObject({ kind: 'not_started', error: { code, message } });
  });

  it('is unknown if the connection broke, and a refusal if there is no valid status', () => {
    expect(parseExecEnd(null)).toEqual({ kind: 'unknown' });
    expect(parseExecEnd('oops')).toMatchObject({ kind: 'not_started', error: { code: 'KUBERNETES_ERROR' } });
  });
});
