import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { runBatch } from './batch.ts';
import { SqliteSession } from './session.ts';
import type { WriterReply, WriterRequest, WriterSettings } from './writer-protocol.ts';

/** The thread that owns the single write connection. It makes every change to the object store's database. */
function serve(settings: WriterSettings, send: (reply: WriterReply) => void): (request: WriterRequest) => void {
  const database = new DatabaseSync(settings.file);
  for (const pragma of settings.pragmas) database.exec(pragma);
  const session = new SqliteSession(database);
  return (request) => {
    if (request.kind === 'close') {
      database.exec('pragma wal_checkpoint(truncate)');
      database.close();
      send({ kind: 'closed' });
      return;
    }
    const outcomes = runBatch(database, session, request.commands);
    send({ kind: 'batch', outcomes, bucketsChanged: session.takeBucketsChanged() });
    keepLogShort(database, settings);
  };
}

/** Runs after the reply, so that it delays only the next batch. */
function keepLogShort(database: DatabaseSync, settings: WriterSettings): void {
  const log = statSync(`${settings.file}-wal`, { throwIfNoEntry: false });
  if (log === undefined || log.size < settings.checkpointBytes) return;
  try {
    database.exec('pragma wal_checkpoint(truncate)');
  } catch {
    // A full disk: the log stays as it is, commits answer for themselves, and the next batch tries again.
  }
}

if (parentPort !== null) {
  const port = parentPort;
  const handle = serve(workerData as WriterSettings, (reply) => port.postMessage(reply)); // set by SqliteWriter
  port.on('message', (request: WriterRequest) => {
    handle(request);
    if (request.kind === 'close') port.close();
  });
  port.postMessage({ kind: 'ready' } satisfies WriterReply);
}
