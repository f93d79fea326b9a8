import { describe, expect, it } from 'vitest';
import { readExecEnd } from './exec-protocol.ts';

describe('the status of an exec', () => {
  it.each([
    [{ status: 'Success' }, { exitCode: 0 }],
    [
      {
        status: 'Failure',
        reason: 'NonZeroExitCode',
        details: {
          causes: [
            { reason: 'Other', message: '3' },
            { reason: 'ExitCode', message: '137' },
          ],
        },
      },
      { exitCode: 137 },
    ],
    [{ status: 'Failure', reason: 'InternalError', message: 'no such container' }, { reason: 'no such container' }],
    [{ status: 'Failure' }, { reason: 'the container refused the command' }],
  ])('%j', (status, end) => {
    expect(readExecEnd(JSON.stringify(status))).toEqual(end);
  });

  it.each(['oops', '["oops"]'])('of a server that fails in the middle is its words: %s', (text) => {
    expect(readExecEnd(text)).toEqual({ reason: text });
  });
});
