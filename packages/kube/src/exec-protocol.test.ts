import { describe, expect, it } from 'vitest';
import { readExecEnd } from './exec-protocol.ts';

describe('readExecEnd', () => {
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
  ])('parses %j', (status, end) => {
    expect(readExecEnd(JSON.stringify(status))).toEqual(end);
  });

  it.each(['oops', '["oops"]'])('returns the text of a server that fails midway: %s', (text) => {
    expect(readExecEnd(text)).toEqual({ reason: text });
  });
});
