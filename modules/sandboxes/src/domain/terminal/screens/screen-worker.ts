import { parentPort, workerData } from 'node:worker_threads';
import { OrderTurns } from './order-turns.ts';
import type { ScreenOrder } from './screen-messages.ts';
import { ScreenStore } from './screen-store.ts';

/** Runs in its own thread: untrusted terminal output is parsed at about ten megabytes per second. */
const screens = new ScreenStore(() => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
});
/** The screen being processed, so that the platform can tell which one killed the thread. */
const current = new Int32Array(workerData as SharedArrayBuffer); // passed by `ScreenThread`
const turns = new OrderTurns((order) => {
  current[0] = order.screen;
  const answer = screens.handle(order);
  current[0] = 0;
  if (answer !== null) parentPort?.postMessage(answer);
}, setImmediate);
parentPort?.on('message', (order: ScreenOrder) => turns.add(order));
