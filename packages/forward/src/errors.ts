import { defineErrors } from '@svc/errors';

/** Errors of requests whose owner is another replica. */
export const forwardErrors = defineErrors({
  REPLICA_UNREACHABLE: [503, 'Replica {replica}, which holds this {kind}, cannot be reached; try again'],
  REPLICA_LOST: [
    502,
    'Replica {replica}, which holds this {kind}, was lost before it answered; the request may have been carried out, so check before repeating it',
  ],
  TOO_MANY_FORWARDS: [
    503,
    'This {holder} has {held} of the {limit} requests and connections that a replica forwards at a time; close some, or try again',
  ],
});
