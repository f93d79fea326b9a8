import { createKubeClient, staticToken } from '@svc/kube';
import { createLogger } from '@svc/telemetry';
import { expect, it } from 'vitest';
import { systemClock } from '@svc/runtime';
import type { CommandContext, CommandHandler } from '../commands/handler.ts';
import { LiveConfig } from '../config/live-config.ts';
import { loadAgentConfig } from '../config/load.ts';
import { agentErrors } from '../errors.ts';
import { createDeployHandler } from './deploy-handler.ts';

const access = { insecureSkipVerify: false, namespace: 'shop', token: staticToken(null) };
const EMPTY = { namespace: 'shop', project_id: 'web', manifest: '' }; // refused as soon as its turn comes

/** Deploys wait for the API server until `reachable` resolves. */
function createHandler(reachable: Promise<void>): CommandHandler<'deploy'> {
  const log = createLogger({ level: 'info', name: 'test', destination: { write: () => undefined } });
  const environment = { CLUSTER_NAME: 'a', SVC_API_URL: 'https://b', SVC_TOKEN: 'one' };
  const load = () => loadAgentConfig({ file: null, environment });
  return createDeployHandler({
    client: createKubeClient({ ...access, server: new URL('http://127.0.0.1:1') }),
    config: new LiveConfig(load().config, load, log),
    clock: systemClock,
    log,
    report: () => undefined,
    reachable: () => reachable,
    drift: { deploying: () => () => undefined, applied: async () => undefined, putBackUid: () => undefined },
  });
}

function createContext(signal = new AbortController().signal): CommandContext {
  const nothing = (): void => undefined;
  return { commandId: 'c', resumed: true, signal, progress: nothing, output: async () => undefined, onInput: nothing };
}

it('runs one deploy per project at a time, and a newer one supersedes the queued one', async () => {
  const gate = Promise.withResolvers<void>();
  const handler = createHandler(gate.promise);
  const first = handler.run(EMPTY, createContext());
  const second = handler.run(EMPTY, createContext());
  const third = handler.run(EMPTY, createContext());
  await expect(second).resolves.toMatchObject({ status: 'superseded', error: { code: 'SUPERSEDED' } });
  expect(handler.position?.(EMPTY)).toBe(1);
  expect(handler.position?.({ ...EMPTY, namespace: 'other' })).toBe(0);
  gate.resolve();
  await expect(first).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  await expect(third).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  expect(handler.position?.(EMPTY)).toBe(0);
});

it('does not start a deploy that was cancelled while queued', async () => {
  const gate = Promise.withResolvers<void>();
  const handler = createHandler(gate.promise);
  const first = handler.run(EMPTY, createContext());
  const controller = new AbortController();
  const waiting = handler.run(EMPTY, createContext(controller.signal));
  controller.abort(agentErrors.CANCELLED());
  await expect(waiting).rejects.toMatchObject({ code: 'CANCELLED' });
  const next = handler.run(EMPTY, createContext());
  gate.resolve();
  await expect(first).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  await expect(next).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
});
