/** Exports of `node:http` that load undici, the client behind `fetch`. We use `ws` for WebSockets. */
const LOADING_NAMES = ['WebSocket', 'CloseEvent', 'MessageEvent'];

/**
 * The first `import` of `node:http` in a process reads all of its exports and so loads undici: about 3 MiB that an idle
 * platform never uses (decision 0008). Call this before that import. `fetch` still loads undici on demand.
 */
export function leaveOutWebSockets(): void {
  const http = process.getBuiltinModule('node:http');
  for (const name of LOADING_NAMES) Reflect.deleteProperty(http, name);
}
