import { CommandFailure } from './command-failure.ts';

/** Extracts the platform's message from the contract's error body. */
export function parseRefusal(status: number, body: string): CommandFailure {
  try {
    // checked below
    const { error } = JSON.parse(body) as { error?: Partial<Record<'code' | 'message' | 'details', unknown>> };
    if (typeof error?.message === 'string') {
      const { reason } = (error.details ?? {}) as { reason?: unknown }; // checked by the hint
      return new CommandFailure(
        error.message,
        error.code === 'AGENT_OFFLINE' ? { hint: offlineHint(reason, error.message) } : {},
      );
    }
  } catch {
    // something on the way answered in its own manner
  }
  return new CommandFailure(`the platform answered ${status}`);
}

/**
 * A connected agent may not offer a tunnel, depending on its configuration. Otherwise the reason repeats the message.
 */
export function offlineHint(reason: unknown, message: string): string {
  if (typeof reason !== 'string' || reason === message) return 'svc cluster status shows when its agent was last seen';
  return `${reason}; tunnel.enabled in its configuration opens one, with Helm --set config.tunnel.enabled=true`;
}
