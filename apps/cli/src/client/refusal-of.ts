import { CommandFailure } from './command-failure.ts';

/** The platform's own words, from the contract's error body. */
export function refusalOf(status: number, body: string): CommandFailure {
  try {
    const { error } = JSON.parse(body) as { error?: Partial<Record<'code' | 'message' | 'details', unknown>> }; // looked at below
    if (typeof error?.message === 'string') {
      const { reason } = (error.details ?? {}) as { reason?: unknown }; // looked at by the hint
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

/** An agent may be there and still offer no tunnel, which its configuration says. Else the reason repeats the message. */
export function offlineHint(reason: unknown, message: string): string {
  if (typeof reason !== 'string' || reason === message) return 'svc cluster status shows when its agent was last seen';
  return `${reason}; tunnel.enabled in its configuration opens one, with Helm --set config.tunnel.enabled=true`;
}
