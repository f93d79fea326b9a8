import { systemClock } from '@svc/runtime';
import { expect, it } from 'vitest';
import { sandboxErrors } from '../../errors.ts';
import { awaitReady, type AwaitReadyDeps } from './await-ready.ts';

const template = { digest: 'd', buildId: 'b', user: 'user', workingFolder: '/home/user', startCommand: ['serve'] };
const sandbox = { id: 'sbx_a', workspaceUuid: 'w', template, status: 'running' } as const;
const end = { exitCode: 0, signal: null, error: null, timedOut: false, durationMs: 1, lost: false };

async function wait(results: readonly (number | Error)[], more: object = {}, ready: string | null = 'check') {
  const commands: { argv: readonly string[]; user: string | null; cwd: string | null }[] = [];
  const deps: AwaitReadyDeps = {
    templates: { readyCommand: async () => ready },
    commands: {
      run: async (_workspace, _id, { argv, user, cwd }) => {
        const result = results[commands.push({ argv, user, cwd }) - 1] ?? 0;
        if (result instanceof Error) throw result;
        return { ...end, exitCode: result };
      },
    },
    clock: systemClock,
  };
  await awaitReady(deps, { ...sandbox, ...more }, new AbortController().signal);
  return commands;
}

it('repeats the check as the user of the template until it succeeds', async () => {
  const check = { argv: ['/bin/sh', '-c', 'check'], user: 'user', cwd: '/home/user' };
  expect(await wait([1, 1, 0])).toEqual([check, check, check]);
});

it('gives up on a sandbox that was stopped', async () => {
  expect(await wait([1, sandboxErrors.SANDBOX_NOT_RUNNING({ details: { status: 'stopped' } })])).toHaveLength(2);
});

it('does not wait without a template, a start command, a check or a running sandbox', async () => {
  expect(await wait([], { template: null })).toEqual([]);
  expect(await wait([], { template: { ...template, startCommand: null } })).toEqual([]);
  expect(await wait([], { status: 'creating' })).toEqual([]);
  expect(await wait([], {}, null)).toEqual([]);
});
