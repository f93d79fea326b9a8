import type { DatabaseSync } from 'node:sqlite';
import { toOutcome, type Command, type CommandOutcome } from '../outcome.ts';
import { startProgram } from '../start-program.ts';
import type { SqliteSession } from './session.ts';

/** Runs all commands in one transaction with one fsync. A command that fails is rolled back alone. */
export function runBatch(
  database: DatabaseSync,
  session: SqliteSession,
  commands: readonly Command[],
): readonly CommandOutcome[] {
  try {
    database.exec('begin immediate');
    const outcomes = commands.map((command) => runCommand(database, session, command));
    database.exec('commit');
    return outcomes;
  } catch (error) {
    if (database.isTransaction) database.exec('rollback');
    const outcome = toOutcome(error);
    return commands.map(() => outcome);
  }
}

function runCommand(database: DatabaseSync, session: SqliteSession, command: Command): CommandOutcome {
  let savepoint = false;
  try {
    const value = session.run(startProgram(command), () => {
      database.exec('savepoint command');
      savepoint = true;
    });
    if (savepoint) database.exec('release command');
    return { kind: 'done', value };
  } catch (error) {
    if (!database.isTransaction) throw error; // SQLite rolled back the whole transaction, for example on a full disk
    if (savepoint) database.exec('rollback to command; release command');
    return toOutcome(error);
  }
}
