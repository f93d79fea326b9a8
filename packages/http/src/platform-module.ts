import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Usage } from '@svc/quotas';
import { Type } from 'typebox';
import type { ReadinessCheck } from './health.ts';
import type { OwnerFinders } from './forwarding.ts';
import type { HttpApp } from './http-app.ts';
import type { UpgradeRouter } from './upgrades.ts';

/** What the platform does with a module, in this order. Metrics are registered when the module is created. */
export interface PlatformModule {
  registerRoutes(app: HttpApp): Promise<void>;
  registerUpgrades(router: UpgradeRouter): void;
  /** Starts background work. It ends with the signal; `close` waits for it. */
  start(signal: AbortSignal): Promise<void>;
  /**
   * Ends what would keep a listener open: tells agents, terminals and streams to reconnect elsewhere. Requests are
   * still served. `close` follows.
   */
  drain(): Promise<void>;
  /** Ends open connections and background work, and resolves when everything is written. */
  close(): Promise<void>;
  /** Of what only this replica uses. */
  readonly readiness: ReadinessCheck;
}

/** A module that can be disabled and that serves workspaces. */
export interface ServiceModule<State extends ServiceState> extends PlatformModule {
  /** Handles a request for a host of its own, such as a preview, and returns whether it did. Called before any route. */
  handleHost(this: void, request: IncomingMessage, response: ServerResponse): boolean;
  /** Whether the request is for such a host and its body has no time limit. */
  allowsSlowBody(this: void, request: IncomingMessage): boolean;
  /** Finds the replica that holds something of this service. */
  readonly owners: OwnerFinders;
  /** The state of a workspace in this service, for the overview. */
  state(workspaceUuid: string): Promise<State>;
  /** What a workspace still has here, such as `2 buckets`. A workspace without anything can be deleted. */
  holdings(workspaceUuid: string): Promise<string[]>;
  /** The combined usage of these workspaces, by quota name. */
  quotaUsage(workspaceUuids: readonly string[]): Promise<Usage>;
}

/** Part of every service's state. `reason` says why the service is disabled; null if it is enabled. */
export interface ServiceState {
  enabled: boolean;
  reason: string | null;
}

/** The schema of `ServiceState`, to spread into an object. */
export const serviceStateFields = {
  enabled: Type.Boolean(),
  reason: Type.Union([Type.String(), Type.Null()]),
};

/** A disabled service: it has no routes, and its state gives the reason. */
export function createDisabledModule<State extends ServiceState>(
  state: Omit<State, keyof ServiceState>,
  reason: string,
): ServiceModule<State> {
  const disabled = { ...state, enabled: false, reason } as State; // the two fields that `Omit` took away
  return {
    registerRoutes: async () => undefined,
    registerUpgrades: () => undefined,
    start: async () => undefined,
    drain: async () => undefined,
    close: async () => undefined,
    readiness: () => 'ok',
    handleHost: () => false,
    owners: {},
    allowsSlowBody: () => false,
    state: async () => disabled,
    holdings: async () => [],
    quotaUsage: async () => ({}),
  };
}

/** `2 buckets`, `1 bucket`, or nothing. */
export function describeHoldings(count: number, singular: string, plural: string): string[] {
  return count === 0 ? [] : [`${count} ${count === 1 ? singular : plural}`];
}
