import { setFlagsFromString } from 'node:v8';

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

/** V8's optimizing compilers: both have a flag of their name, and one to turn them off, in every V8 of Node.js 24. */
const OPTIMIZERS = ['maglev', 'turbofan'];

/**
 * Runs what follows without V8's optimizing compilers, until the returned function is called. They compile a few large
 * functions during the start, and what they free stays in the process in fragments: up to 20 MiB on a busy machine
 * (decision 0008). Without them a start takes no more time.
 */
export function postponeOptimizing(): () => void {
  for (const name of OPTIMIZERS) setFlagsFromString(`--no-${name}`);
  return () => {
    for (const name of OPTIMIZERS) setFlagsFromString(`--${name}`);
  };
}
