/** Names of `node:http` behind which Node loads the client of `fetch`, undici. `ws` is what speaks WebSockets here. */
const LOADING_NAMES = ['WebSocket', 'CloseEvent', 'MessageEvent'];

/**
 * The first `import` of `node:http` in a process reads everything that it exports, and so loads undici: some 3 MiB that
 * an idle platform never uses (decision 0008). To be called before that import. `fetch` loads it when it is called.
 */
export function leaveOutWebSockets(): void {
  const http = process.getBuiltinModule('node:http');
  for (const name of LOADING_NAMES) Reflect.deleteProperty(http, name);
}
