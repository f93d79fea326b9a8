import { ConfigError } from '@svc/config';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '@svc/telemetry';
import type { LoadedAgentConfig } from './load.ts';
import { RELOADABLE_SECTIONS, type AgentConfig } from './schema.ts';

/** The current configuration. Read it on each use, so that a reload takes effect everywhere. */
export class LiveConfig {
  #current: AgentConfig;
  readonly #load: () => LoadedAgentConfig;
  readonly #log: Logger;
  readonly #listeners: ((config: AgentConfig) => void)[] = [];

  constructor(initial: AgentConfig, load: () => LoadedAgentConfig, log: Logger) {
    this.#current = initial;
    this.#load = load;
    this.#log = log;
  }

  get current(): AgentConfig {
    return this.#current;
  }

  onChange(listener: (config: AgentConfig) => void): void {
    this.#listeners.push(listener);
  }

  /** Reloads the configuration. An invalid one changes nothing and is logged with all its faults. */
  reload(cause: string): void {
    let loaded: LoadedAgentConfig;
    try {
      loaded = this.#load();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.#log.error({ cause, faults: error.faults }, 'the configuration is invalid and was not reloaded');
      return;
    }
    const changed = changedKeys(this.#current, loaded.config);
    if (changed.length === 0) {
      this.#log.info({ cause }, 'the configuration was reloaded without changes');
      return;
    }
    const waiting = changed.filter((path) => !isReloadable(path));
    this.#current = mergeReloadable(this.#current, loaded.config) as AgentConfig; // both are
    const applied = changed.filter(isReloadable);
    this.#log.info({ cause, changed: applied }, 'the configuration was reloaded');
    if (waiting.length > 0) this.#log.warn({ keys: waiting }, 'these changes take effect after a restart');
    for (const listener of this.#listeners) listener(this.#current);
  }
}

function isReloadable(path: string): boolean {
  return RELOADABLE_SECTIONS.some((section) => path === section || path.startsWith(`${section}.`));
}

/** Dotted paths of values that differ; lists and maps count as one value. */
export function changedKeys(before: unknown, after: unknown, path = ''): string[] {
  if (isSection(before, path) && isSection(after, path)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) => changedKeys(before[name], after[name], path === '' ? name : `${path}.${name}`));
  }
  return isDeepStrictEqual(before, after) ? [] : [path];
}

function isSection(value: unknown, path: string): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && path !== 'agent.labels';
}

/** The new configuration, with the old values of keys that require a restart. */
function mergeReloadable(before: unknown, after: unknown, path = ''): unknown {
  if (isReloadable(path)) return after;
  if (!isSection(before, path) || !isSection(after, path)) return before;
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const entries = [...names].map((name) => {
    const at = path === '' ? name : `${path}.${name}`;
    return [name, mergeReloadable(before[name], after[name], at)] as const;
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)); // an absent key stays absent
}
