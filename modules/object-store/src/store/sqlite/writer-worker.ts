import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { LogKeeper } from './log-keeper.ts';
import { SqliteSession } from './session.ts';
import type { WriterReply, WriterRequest, WriterSettings } from './writer-protocol.ts';
import { toOutcome, type Command, type CommandOutcome } from '../outcome.ts';
import { startProgram } from '../start-program.ts';

/** The thread that owns the only write connection and makes every change to the object store's database. */
function serve(
  settings: WriterSettings,
  send: (reply: WriterReply) => void,
): (request: WriterRequest) => Promise<void> {
  const database = new DatabaseSync(settings.file);
  for (const pragma of settings.pragmas) database.exec(pragma);
  const session = new SqliteSession(database);
  const log = new LogKeeper(database, settings);
  return async (request) => {
    if (request.kind === 'close') {
      await log.close();
      database.exec('pragma wal_checkpoint(truncate)');
      database.close();
      send({ kind: 'closed' });
      return;
    }
    const outcomes = runBatch(database, session, request.commands);
    send({ kind: 'batch', outcomes, bucketsChanged: session.takeBucketsChanged() });
    log.check(); // after the reply, so that it delays only the next batch
  };
}

if (parentPort !== null) {
  const port = parentPort;
  const handle = serve(workerData as WriterSettings, (reply) => port.postMessage(reply)); // set by SqliteWriter
  port.on('message', (request: WriterRequest) => {
    void handle(request).then(() => {
      if (request.kind === 'close') port.close();
    });
  });
  port.postMessage({ kind: 'ready' } satisfies WriterReply);
}

/** Runs all commands in one transaction with one fsync. A command that fails is rolled back alone. */
function runBatch(
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
