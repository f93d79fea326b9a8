import type { ServerResponse } from 'node:http';

/**
 * Calls back once when an answer is over, however it ended. A client that left while the request was decided has closed it
 * already, and `close` does not come again: then the callback runs at once.
 */
export function whenClosed(response: ServerResponse, callback: () => void): void {
  if (response.destroyed) callback();
  else response.once('close', callback);
}
