import { defineErrors } from '@svc/errors';

/** Errors that stop a replica, at its start or later. Each names the cause and the remedy in one line. */
export const replicaErrors = defineErrors({
  REPLICA_ID_IN_USE: [
    409,
    'Another svc process is running as replica {id} since {started_at}; stop it, or, if this data folder is a copy, delete its file replica-id and start again',
  ],
  REPLICA_ID_TAKEN: [
    409,
    'Another svc process took over the replica id {id} at {started_at}, so this one stops; if its data folder is a copy, delete the file replica-id there and start it again',
  ],
  REPLICAS_TOO_OLD: [
    409,
    'Migration {name} removes what these replicas of an older version still use: {replicas}. Replace them with a version that knows migration {required}, or stop them (a killed one counts for ten seconds), and start again',
  ],
  MASTER_KEY_DIFFERS: [
    409,
    'The master key {found} is not the one of this database, {expected}; set SVC_MASTER_KEY, or the file {file}, to the key that the other replicas use. While a key is rotated, set the other one as SVC_MASTER_KEY_PREVIOUS',
  ],
});
