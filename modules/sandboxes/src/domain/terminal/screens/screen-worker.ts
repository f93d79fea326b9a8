import { parentPort, workerData } from 'node:worker_threads';
import { OrderTurns } from './order-turns.ts';
import type { ScreenOrder } from './screen-messages.ts';
import { ScreenShelf } from './screen-shelf.ts';

/** Runs in its own thread: untrusted terminal output is parsed at about ten megabytes per second. */
const shelf = new ScreenShelf(() => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
});
/** The screen being processed, so that the platform can tell which one killed the thread. */
const current = new Int32Array(workerData as SharedArrayBuffer); // passed by `ScreenThread`
const turns = new OrderTurns((order) => {
  current[0] = order.screen;
  const answer = shelf.obey(order);
  current[0] = 0;
  if (answer !== null) parentPort?.postMessage(answer);
}, setImmediate);
parentPort?.on('message', (order: ScreenOrder) => turns.add(order));
