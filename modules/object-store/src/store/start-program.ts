import type { Command } from './outcome.ts';
import type { Program } from './program.ts';
import { commandPrograms, isCommandName } from './programs/registry.ts';

/** The program of a serialized command. */
export function startProgram(command: Command): Program<unknown> {
  if (!isCommandName(command.name)) throw new Error(`there is no command ${command.name}`);
  // The port's types matched this name with this input; only the name crosses the thread boundary.
  const start = commandPrograms[command.name] as (input: unknown) => Program<unknown>;
  return start(command.input);
}
