import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { refuseHops } from '@svc/forward';
import { createListener } from '@svc/http';
import { createLogger } from '@svc/telemetry';
import { temporaryFolder } from '@svc/testing';
import { compose } from '../../src/compose.ts';
import { type PlatformConfig } from '../../src/config.ts';
import { loadPlatformConfig } from '../../src/load-config.ts';
import { callPlatform, type PlatformApi } from './platform-api.ts';

/** A registered route of the platform. */
export interface Route {
  readonly method: string;
  readonly url: string;
  readonly scope: 'public' | 'self' | 'workspace';
  /** Null for public routes. */
  readonly action: string | null;
  readonly unheld: string | null;
  /** Whether a capability, such as the token of a sandbox, takes the place of a credential. */
  readonly byCapability: boolean;
}

/** A request that passed the guard and is still open, or one that was answered immediately. */
export interface OpenRequest {
  readonly route: Route;
  readonly isOpen: boolean;
  /** Final status; 0 = aborted without a response. */
  readonly ended: Promise<number>;
  isOver(): boolean;
  close(): void;
}

export interface HeldPlatform extends PlatformApi {
  readonly routes: readonly Route[];
  readonly port: number;
  /** Opens a route and keeps it waiting behind the guard, like a response that never ends. */
  open(route: Route, path: string, headers: Record<string, string>): Promise<OpenRequest>;
  close(): Promise<void>;
}

const PARK = 'x-test-park';

/**
 * Every route of the whole platform behind a real listener; a request with the header `x-test-park` waits behind the
 * guard.
 */
export async function startHeldPlatform(accounts: Partial<PlatformConfig['accounts']>): Promise<HeldPlatform> {
  const folder = await temporaryFolder('svc-held-');
  const flags = [{ flag: '--data', path: 'data', value: `${folder.path}/data` }];
  const { value } = loadPlatformConfig({ environment: {}, flags });
  // One owner has the teams and workspaces of all scenarios.
  const limits = { ...value.accounts.limits, teams_per_owner: 1_000, workspaces_per_owner: 1_000 };
  const config = { ...value, accounts: { ...value.accounts, limits, ...accounts } };
  const routes: Route[] = [];
  const parked = new Map<string, () => void>();
  const composition = await compose({
    config,
    log: createLogger({ level: 'silent', name: 'test' }),
    helperBinaries: () => Promise.reject(new Error('no sandbox is started')),
    prepareApp: (app) => {
      app.addHook('onRoute', ({ method, url, config: route }) => {
        const byCapability = route?.grantedEarlier !== undefined;
        const scope = route?.public === true ? 'public' : (route?.scope ?? 'workspace');
        for (const each of [method].flat()) {
          if (each === 'HEAD') continue;
          routes.push({
            method: each,
            url,
            scope,
            action: route?.action ?? null,
            unheld: route?.unheld ?? null,
            byCapability,
          });
        }
      });
      app.addHook('preParsing', async (request, reply) => {
        const begin = parked.get(String(request.headers[PARK]));
        if (begin === undefined) return;
        begin();
        await once(reply.raw, 'close');
        throw new Error('a parked request never reaches its handler');
      });
    },
  });
  const { app, lifecycle, modules, upgrades, accounts: accountsModule } = composition;
  const handler: Parameters<typeof createListener>[0]['handler'] = (request, response) =>
    app.routing(request, response);
  const listener = createListener(refuseHops({ handler, onUpgrade: upgrades.dispatch }));
  const port = await listener.listen(0, '127.0.0.1');
  // Sandboxes are off, but their requests would wait for the start of the module.
  await modules.sandboxes.start(new AbortController().signal);
  await accountsModule.ensureOwner({ email: 'owner@example.com', password: 'correct horse battery' });
  let count = 0;
  return {
    composition,
    routes,
    port,
    call: (...request) => callPlatform(port, ...request),
    open: async (route, path, headers) => {
      const id = String((count += 1));
      const isParked = new Promise<true>((resolve) => parked.set(id, () => resolve(true)));
      const { method } = route;
      const outgoing = httpRequest({
        host: '127.0.0.1',
        port,
        method,
        path,
        agent: false,
        headers: { ...headers, [PARK]: id },
      });
      let isOver = false;
      const ended = readStatus(outgoing).finally(() => (isOver = true));
      outgoing.end();
      const isOpen = await Promise.race([isParked, ended.then(() => false)]);
      return { route, isOpen, ended, isOver: () => isOver, close: () => void outgoing.destroy() };
    },
    close: async () => {
      await listener.close(0);
      for (const [name, module] of Object.entries(modules)) lifecycle.own(name, () => module.close());
      await lifecycle.close();
      await folder.remove();
    },
  };
}

function readStatus(outgoing: ReturnType<typeof httpRequest>): Promise<number> {
  return new Promise((resolve) => {
    outgoing.once('response', (response) => {
      response.resume().once('close', () => resolve(response.statusCode ?? 0));
    });
    outgoing.once('error', () => resolve(0));
    outgoing.once('close', () => resolve(0));
  });
}
