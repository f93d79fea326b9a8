import { KeyedQueue } from '@svc/runtime';
import type { SandboxContext } from '../domain/context.ts';
import { LiveSandboxes } from '../domain/live-sandboxes.ts';
import { wake } from '../domain/pausing.ts';
import { StatusWatch } from '../domain/status-watch.ts';
import { Supervisor } from '../domain/supervisor.ts';

type Given = Pick<
  SandboxContext,
  'repository' | 'driver' | 'effects' | 'quotaLimits' | 'node' | 'log' | 'disk' | 'places'
>;

/**
 * Builds the context that the domain's parts share, and the supervisor, which uses all of it and handles lost
 * sandboxes.
 */
export function createContext(deps: Given): {
  context: SandboxContext;
  supervisor: Supervisor;
} {
  const { repository, log } = deps;
  const supervisor: Supervisor = new Supervisor(() => context);
  const touch = (id: string, atMs: number): void => {
    repository.touch(id, new Date(atMs).toISOString()).catch((error: unknown) => log.warn({ err: error }, 'touch'));
  };
  const nowMs = (): number => deps.effects.now().getTime();
  const live: LiveSandboxes = new LiveSandboxes(
    (id) => supervisor.lost(id),
    touch,
    (id) => void wake(context, id),
    nowMs,
  );
  const context: SandboxContext = { ...deps, live, watch: new StatusWatch(), queue: new KeyedQueue() };
  return { context, supervisor };
}
