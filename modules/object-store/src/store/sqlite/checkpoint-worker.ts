import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { CheckpointReply, CheckpointRequest, WriterSettings } from './writer-protocol.ts';

/**
 * The thread that copies the write-ahead log into the database file while the writer continues. A passive checkpoint
 * waits for no one (https://sqlite.org/c3ref/wal_checkpoint_v2.html).
 */
function serve(settings: WriterSettings, send: (reply: CheckpointReply) => void): (request: CheckpointRequest) => void {
  const database = new DatabaseSync(settings.file);
  for (const pragma of settings.pragmas) database.exec(pragma);
  return (request) => {
    if (request === 'close') {
      database.close();
      return;
    }
    try {
      database.exec('pragma wal_checkpoint(passive)');
    } catch {
      // A full disk: the log stays as it is, and the writer asks again.
    }
    send('copied');
  };
}

if (parentPort !== null) {
  const port = parentPort;
  const handle = serve(workerData as WriterSettings, (reply) => port.postMessage(reply)); // set by LogKeeper
  port.on('message', (request: CheckpointRequest) => {
    handle(request);
    if (request === 'close') port.close();
  });
}
