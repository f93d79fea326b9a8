import type { CommandName } from '@svc/protocol';
import { agentErrors } from '../errors.ts';
import type { CommandHandler } from './handler.ts';

/** A command of the protocol that this agent was built without: refused by name. */
export function unsupportedCommand<Name extends CommandName>(name: Name): CommandHandler<Name> {
  const reason = `this agent does not run ${name} commands`;
  return {
    position: () => 0,
    run: () => Promise.reject(agentErrors.UNSUPPORTED({ details: { field: 'type', reason } })),
  };
}
