import type { ServerResponse } from 'node:http';

/**
 * Calls back once when a response ends, for whatever reason. If the client disconnected already, `close` is not emitted
 * again, so the callback runs immediately.
 */
export function whenClosed(response: ServerResponse, callback: () => void): void {
  if (response.destroyed) callback();
  else response.once('close', callback);
}
