import type { Command } from './outcome.ts';
import type { Program } from './program.ts';
import { commandPrograms, isCommandName } from './programs/registry.ts';

/** The program of a command that came as data. */
export function startProgram(command: Command): Program<unknown> {
  if (!isCommandName(command.name)) throw new Error(`there is no command ${command.name}`);
  // The port's types paired this name with this input; here, behind the thread's border, only the name is left.
  const start = commandPrograms[command.name] as (input: unknown) => Program<unknown>;
  return start(command.input);
}
